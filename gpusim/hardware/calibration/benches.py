"""The raw results of the microbenchmarks: one JSON file per bench, rows of parameters and cycles."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpusim.errors import RecordingError

__all__ = ["Benches", "Measured", "Rows", "bench_file"]

_RAN_ON = {
    ("h200_sxm", "behind_loads"): "h100_sxm",
    ("h100_sxm", "atomics"): "h200_sxm",
    ("h100_sxm", "behind_misses"): "h200_sxm",
    ("h100_sxm", "copies_beside"): "h200_sxm",
    ("h100_sxm", "dsmem"): "h200_sxm",
    ("h100_sxm", "shared_atomics"): "h200_sxm",
    ("h100_sxm", "shifted_stores"): "h200_sxm",
    ("h100_sxm", "time_stamps"): "h200_sxm",
}
"""Benches of a device that ran on another one with the same SM, of which alone they are."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured quantity: value and spread as numbers in ``unit``, and the bench it is from."""

    value: float
    unit: str
    source: str
    spread: float = 0.0

    @property
    def text(self) -> str:
        """The value with its unit, four significant digits."""
        return f"{self.value:.4g} {self.unit}".strip()


def bench_file(folder: Path, bench: str) -> dict[str, Any]:
    """One microbenchmark's results with what it says about the device. Raises RecordingError."""
    path = folder / f"{bench}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordingError(f"cannot read the microbenchmark result: {error}", path=path) from None


class Benches:
    """The results in one folder; each file is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, dict[str, Any]] = {}

    def file(self, bench: str) -> dict[str, Any]:
        """A whole bench file."""
        if bench not in self._known:
            self._known[bench] = bench_file(self.path(bench).parent, bench)
        return self._known[bench]

    def path(self, bench: str) -> Path:
        """Where it is: in the folder, unless it ran on another device."""
        path = self._folder / f"{bench}.json"
        ran_on = _RAN_ON.get((self._folder.name, bench))
        return path if ran_on is None or path.exists() else self._folder.parent / ran_on / path.name

    def rows(self, bench: str, **where: Any) -> Rows:
        """The rows whose fields equal ``where``. Raises RecordingError if there is none."""
        rows = [row for row in self.file(bench)["rows"] if all(row.get(k) == v for k, v in where.items())]
        if not rows:
            raise RecordingError(f"no rows with {where}", path=self.path(bench))
        return rows

    def sms(self, bench: str) -> int:
        """SMs of the device that it ran on."""
        return int(self.file(bench)["device"]["sm_count"])

    def one(self, bench: str, field: str, **where: Any) -> float:
        """One field of the first row that fits."""
        return float(self.rows(bench, **where)[0][field])
