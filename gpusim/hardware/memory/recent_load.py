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
        self._seen_s = self._seen_used = self._seen_written = 0.0
        self._load = self._writes = self._weight = 0.0

    def seen(self) -> tuple[float, float]:
        """Utilisation of HBM by everything, and that by writes alone, 0..1."""
        elapsed = self._sim.now - self._seen_s
        if elapsed > 0.0:
            used, written = self._used.used_total, self._written.used_total
            keep = exp(-elapsed / LOAD_AVERAGE_S)
            self._load = keep * self._load + (1.0 - keep) * (used - self._seen_used) / elapsed
            self._writes = keep * self._writes + (1.0 - keep) * (written - self._seen_written) / elapsed
            self._weight = keep * self._weight + (1.0 - keep)
            self._seen_s, self._seen_used, self._seen_written = self._sim.now, used, written
        if not self._weight:
            return 0.0, 0.0
        return min(self._load / self._weight, 1.0), min(self._writes / self._weight, 1.0)
