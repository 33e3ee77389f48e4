"""How busy HBM has been of late."""

from __future__ import annotations

from math import exp

from gpusim.engine import Capacity, Simulation

__all__ = ["LOAD_AVERAGE_S", "RecentLoad"]

LOAD_AVERAGE_S = 4e-6
"""Time over which a load is averaged: some turns of a tile loop."""


class RecentLoad:
    """The utilisation of HBM, averaged over the last `LOAD_AVERAGE_S` between the times at which it is looked at."""

    def __init__(self, sim: Simulation, used: Capacity, written: Capacity) -> None:
        """``used`` counts seconds of HBM by everything, ``written`` those by writes alone."""
        self._sim = sim
        self._used, self._written = used, written
        self._both, self._writes = _Average(), _Average()

    def seen(self) -> tuple[float, float]:
        """Utilisation of HBM by everything, and that by writes alone, 0..1."""
        now = self._sim.now
        load = self._both.at(now, self._used.used_total)
        return min(load, 1.0), min(self._writes.at(now, self._written.used_total), 1.0)


class _Average:
    """How fast a total has grown of late."""

    __slots__ = ("_average", "_seen_s", "_seen_total", "_weight")

    def __init__(self) -> None:
        self._seen_s = self._seen_total = self._average = self._weight = 0.0

    def at(self, now: float, total: float) -> float:
        """Growth a second, when the total is ``total`` at ``now``."""
        elapsed = now - self._seen_s
        if elapsed > 0.0:
            keep = exp(-elapsed / LOAD_AVERAGE_S)
            self._average = keep * self._average + (1.0 - keep) * (total - self._seen_total) / elapsed
            self._weight = keep * self._weight + (1.0 - keep)
            self._seen_s, self._seen_total = now, total
        return self._average / self._weight if self._weight else 0.0
