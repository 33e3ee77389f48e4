"""The load-store unit of an SM as a queue.

Models: it takes copies and loads by threads in as fast as its path allows, more slowly those that do not start on a
  line or lie in rows off it; loads from shared memory that are issued behind them wait for that, and so does who finds
  the queue full. The last few copies are past the place where what is behind them gets its turn, and on their way
  while that goes on. Warps get their turns one after the other. Warps in the middle of products by mma.sync get no
  further fragments while other CTAs' copies are taken in.
Omits: what stands ahead of other loads from shared memory that are issued in the middle of a computation.
Source: realkernels.microbench (behind_copies, beside_copies).
"""

from __future__ import annotations

from collections.abc import Callable

from gpusim.engine import Simulation
from gpusim.engine.simulation import Call

__all__ = ["LoadStoreQueue"]

_SPREAD = 0.5
"""Of the time that copies of all warps take, up to as many as find room: from when the first warp has a word of shared
memory that it has asked for behind its own until the last has, 0.4 to 0.6 where each takes 8 cycles and more
(`behind_copies`)."""


class LoadStoreQueue:
    """The queue of one SM's unit, with ``room`` for instructions that are issued and not yet taken in.

    Without any, nothing has to wait behind the unit. Of what is taken in ``passed`` instructions are out of the way of
    those behind, which gets its turn ``depth_s`` after that. ``felt_after_s``: how long the unit takes in copies until
    others get no more fragments.
    """

    def __init__(
        self, sim: Simulation, room: float, felt_after_s: float, passed: float = 0.0, depth_s: float = 0.0
    ) -> None:
        self._sim = sim
        self.room = room
        self._felt_after_s = felt_after_s
        self._passed, self._depth_s = passed, depth_s
        self._passed_s = 0.0
        """How much earlier than all is taken in what is behind gets its turn."""
        self._since_s = self._free_s = 0.0
        """Since when it has been busy, and when everything so far has been taken in."""
        self._filled_s = 0.0
        """Time to take in as many instructions as find room, of the last kind."""
        self._until_s: dict[int, float] = {}
        """When everything so far of a CTA has been taken in, by its number."""
        self.when_changed: Callable[[], None] | None = None
        """Called when `products_rate` has changed, if anybody wants to know."""

    def take(self, count: float, each_s: float, age: int) -> float:
        """Queue ``count`` instructions of ``each_s``; seconds from now until all but those that find room are in.

        ``age``: the number of their CTA.
        """
        if not self.room:
            return 0.0
        now = self._sim.now
        if self._free_s <= now:
            self._since_s = self._free_s = now
        self._free_s += count * each_s
        self._filled_s = self.room * each_s
        self._passed_s = self._passed * each_s - self._depth_s
        if self.when_changed is not None:
            self._until_s = {other: until_s for other, until_s in self._until_s.items() if until_s > now}
            self._until_s[age] = self._free_s
            self.when_changed()
            self._sim.call_after(self._free_s - now, self._taken_in)
        return max(self._free_s - self._filled_s - now, 0.0)

    def wait_s(self) -> float:
        """Seconds until what is issued now gets its turn."""
        return self._until_turn_s(self._free_s)

    def own_wait_s(self, age: int) -> tuple[float, float]:
        """Seconds until the first warp of a CTA whose copies are in the queue gets its turn, and from it to the last.

        Copies of others that were issued later do not matter.
        """
        until_s = self._free_s if self.when_changed is None else self._until_s.get(age, 0.0)
        last_s = self._until_turn_s(until_s)
        spread_s = _SPREAD * min(last_s, self._filled_s)
        return last_s - spread_s, spread_s

    def _until_turn_s(self, taken_in_s: float) -> float:
        """Seconds until what stands behind copies that are taken in by ``taken_in_s`` gets its turn."""
        left_s = taken_in_s - self._sim.now
        return max(left_s - self._passed_s, 0.0) if left_s > 0.0 else 0.0

    def products_rate(self, age: int) -> float:
        """Part of their rate, 0..1, at which products of CTA ``age`` go on while copies of other CTAs are taken in."""
        now = self._sim.now
        if not any(until_s > now and other != age for other, until_s in self._until_s.items()):
            return 1.0
        return min(self._felt_after_s / (self._free_s - self._since_s), 1.0)

    def _taken_in(self, _call: Call) -> None:
        if self.when_changed is not None:
            self.when_changed()
