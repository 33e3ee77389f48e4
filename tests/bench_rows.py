"""Recorded results of the microbenchmarks, for tests that compare a rule with what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import realkernels

RECORDED = Path(realkernels.__file__).parent / "microbench" / "recorded" / "h200_sxm"


def rows(bench: str) -> list[dict]:
    """Rows of a recorded bench, or skip."""
    path = RECORDED / f"{bench}.json"
    if not path.exists():
        pytest.skip(f"{bench} is not recorded")
    return json.loads(path.read_text(encoding="utf-8"))["rows"]
