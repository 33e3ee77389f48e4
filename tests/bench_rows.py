"""Recorded results of the microbenchmarks, for tests that compare a rule with what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import realkernels

_ALL = Path(realkernels.__file__).parent / "microbench" / "recorded"
RECORDED = _ALL / "h200_sxm"


def rows(bench: str, device: str = "h200_sxm", **where: object) -> list[dict]:
    """Rows of a bench recorded on ``device`` that have these values: at least one, or a test would pass on nothing."""
    path = _ALL / device / f"{bench}.json"
    assert path.exists(), f"{bench} is not recorded on {device}"
    recorded = json.loads(path.read_text(encoding="utf-8"))["rows"]
    found = [row for row in recorded if all(row[name] == value for name, value in where.items())]
    assert found, f"{bench} has no row with {where} on {device}"
    return found
