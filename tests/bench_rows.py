"""Recorded results of the microbenchmarks, for tests that compare a rule with what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import realkernels

_ALL = Path(realkernels.__file__).parent / "microbench" / "recorded"
RECORDED = _ALL / "h200_sxm"


def rows(bench: str, device: str = "h200_sxm", **where: object) -> list[dict]:
    """Rows of a bench recorded on ``device`` that have these values, or skip."""
    path = _ALL / device / f"{bench}.json"
    if not path.exists():
        pytest.skip(f"{bench} is not recorded")
    found = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return [row for row in found if all(row[name] == value for name, value in where.items())]
