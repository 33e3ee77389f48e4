"""The load-store unit of an SM as a queue.

Models: it takes copies and loads by threads in as fast as its path allows, more slowly those that do not start on a
  line; loads from shared memory that are issued behind them wait for that, and so does who finds the queue full.
Omits: what stands ahead of a load from shared memory that is issued in the middle of a computation.
Source: realkernels.microbench (behind_copies).
"""

from __future__ import annotations

from gpusim.engine import Simulation

__all__ = ["LoadStoreQueue"]


class LoadStoreQueue:
    """The queue of one SM's unit, with ``room`` for instructions that are issued and not yet taken in.

    Without any, nothing has to wait behind the unit.
    """

    def __init__(self, sim: Simulation, room: float) -> None:
        self._sim = sim
        self.room = room
        self._free_s = 0.0
        """When everything so far has been taken in."""

    def take(self, count: float, each_s: float) -> float:
        """Queue ``count`` instructions of ``each_s``; seconds from now until all but those that find room are in."""
        if not self.room:
            return 0.0
        now = self._sim.now
        self._free_s = max(self._free_s, now) + count * each_s
        return max(self._free_s - self.room * each_s - now, 0.0)

    def wait_s(self) -> float:
        """Seconds until what is issued now gets its turn."""
        return max(self._free_s - self._sim.now, 0.0)
