"""Rows of the host microbenchmarks, and what is made of several of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.errors import RecordingError
from gpusim.hardware.calibration.benches import Measured

__all__ = ["KIB", "MIB", "Found", "HostBenches", "line", "rate", "us"]

KIB, MIB = 1 << 10, 1 << 20
Rows = list[dict[str, Any]]
Found = dict[str, Measured]


class HostBenches:
    """The rows of ``host_<bench>.json``, by what they say.

    ``restart_us``: what an SM takes from the end of a block to the next, in microseconds. No row tells it, and steps
    that subtract it from times of kernels need it; whoever reads rows alone does not.
    """

    def __init__(self, folder: Path, restart_us: float = 0.0) -> None:
        self._folder = Path(folder)
        self.restart_us = restart_us
        self._known: dict[str, dict[str, Any]] = {}

    def head(self, bench: str) -> dict[str, Any]:
        """The whole of a bench's result. Raises RecordingError if it is missing or cannot be read."""
        if bench not in self._known:
            path = self._folder / f"host_{bench}.json"
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                self._known[bench] = {**found, "rows": list(found["rows"]), "device": dict(found["device"])}
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise RecordingError(f"cannot read the microbenchmark result: {error}", path=path) from None
        return self._known[bench]

    def rows(self, bench: str, **where: Any) -> Rows:
        """The rows whose fields are as given. Raises RecordingError if there is none."""
        rows = self.some(bench, **where)
        if not rows:
            raise RecordingError(f"no rows with {where}", path=self._folder / f"host_{bench}.json")
        return rows

    def some(self, bench: str, **where: Any) -> Rows:
        """The rows whose fields are as given, or none: runs that were made before a bench had such rows lack them."""
        return [row for row in self.head(bench)["rows"] if all(row.get(key) == value for key, value in where.items())]

    def us(self, bench: str, field: str = "median_s", **where: Any) -> float:
        """A time of the first such row, in microseconds."""
        return 1e6 * float(self.rows(bench, **where)[0][field])

    def call(self, api: str, call: str, state: str = "idle", size: int = 0, field: str = "median_s") -> float:
        """A call's time in microseconds, from Python through CuPy (``cupy``) or from C++ (``cuda``)."""
        return self.us("calls" if api == "cupy" else "cpp", field, call=call, state=state, bytes=size)


def us(value: float, source: str, spread: float = 0.0) -> Measured:
    """A time."""
    return Measured(value, "us", source, spread)


def rate(value: float, source: str, spread: float = 0.0) -> Measured:
    """Bytes per second."""
    return Measured(value / 1e9, "GB/s", source, spread / 1e9)


def line(sizes: list[float], times_us: list[float]) -> tuple[float, float, float]:
    """(fixed part in microseconds, bytes per second, largest deviation): least squares of time on size."""
    slope, start = np.polyfit(np.array(sizes, dtype=float), np.array(times_us), 1)
    off = np.abs(start + slope * np.array(sizes) - np.array(times_us)).max()
    return float(start), 1e6 / float(slope), float(off)
