"""What an SM has asked memory for and not yet got: there is room for so much, and who issues more waits.

Models: lines of loads by threads have their place in L1; cp.async has one in a table of its own, where copies that
  start off a line or off a sector take more. Who has been loading longest goes first.
Omits: warps of a copy that need less room the more of them there are; copies of 4 and 8 bytes a lane, which go through
  L1.
Source: realkernels.microbench (access, under_way).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from heapq import heappop, heappush
from itertools import count

from gpusim.engine import Event, Simulation

__all__ = ["UnderWay"]


class UnderWay:
    """Loads or copies of one SM in a room of ``size``."""

    def __init__(self, sim: Simulation, size: float) -> None:
        self._sim = sim
        self.size = size
        self._taken = 0.0
        self._loads: deque[tuple[Event, float]] = deque()
        self._turns = count()
        self._waiting: list[tuple[float, int]] = []
        """Since when, and a number that tells equals apart; the first of them is next."""
        self._next: dict[tuple[float, int], Event] = {}
        """What lanes wait for that are not next."""

    def add(self, arrival: Event, amount: float) -> None:
        """``amount`` is under way until ``arrival``."""
        self._loads.append((arrival, amount))
        self._taken += amount

    def room(self, amount: float, since_s: float) -> Generator:
        """Wait until there is room for ``amount`` more of a lane that has been loading since ``since_s``."""
        turn = since_s, next(self._turns)
        heappush(self._waiting, turn)
        while True:
            if self._waiting[0] is not turn:
                self._next[turn] = first = self._sim.event()
                yield first
            elif (full := self._in_the_way(amount)) is not None:
                yield full
            else:
                break
        heappop(self._waiting)
        if self._waiting and (first := self._next.pop(self._waiting[0], None)) is not None:
            first.succeed()

    def _in_the_way(self, amount: float) -> Event | None:
        """The load that ends first of those that leave no room for ``amount`` more, None if there is room."""
        return None if self.fits(amount) else self._loads[0][0]

    def fits(self, amount: float) -> bool:
        """Whether there is room for ``amount`` more, as there always is if nothing else is under way."""
        loads = self._loads
        while loads and loads[0][0].processed:
            self._taken -= loads.popleft()[1]
        return not loads or self._taken + amount <= self.size
