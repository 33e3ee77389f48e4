"""What an SM has asked memory for and not yet got: there is room for so much, and what finds none waits.

Models: lines of loads by threads have their place in L1; cp.async has one in a table of its own, where copies that
  start off a line or off a sector take more. Who has been loading longest goes first. What waits stands in the
  load-store unit, and shared memory is reached behind some of it only.
Omits: warps of a copy that need less room the more of them there are; copies of 4 and 8 bytes a lane, which go through
  L1.
Source: realkernels.microbench (access, under_way, behind_loads).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from gpusim.engine import Event, Simulation

__all__ = ["Outstanding"]


class _Waiting(NamedTuple):
    """A request for room; of two the one goes first whose lane has been loading longer."""

    since_s: float
    """Since when its lane has been loading."""
    number: int
    """Tells equal ones apart: the one that came first is served first."""
    amount: float
    then: Callable[[], None]
    """Called when it has room."""


class Outstanding:
    """Loads or copies that one SM has under way, in a room of ``size`` (bytes of L1, or 1 for all of a table).

    ``ahead``: how much of what waits for room is served before an access to shared memory.
    """

    def __init__(self, sim: Simulation, size: float, ahead: float = 0.0) -> None:
        self._sim = sim
        self.size = size
        self._ahead = ahead
        self._taken = 0.0
        self._began_s: dict[Event, float] = {}
        """When those that are under way began, the oldest first."""
        self._turns = count()
        self._waiting: list[_Waiting] = []
        """A heap, the first to get room on top."""
        self._blocked: list[tuple[float, float, Event]] = []
        """Who goes on when no more than so much waits that began no later."""
        self._lasted_s = self._stopped_s = 0.0
        """How long the last load to arrive was under way; and, from that, how long the first to wait waits for room."""
        self._entered_s = self._s_per_amount = 0.0
        """When something that waited last found room, and how fast it goes from one to the next."""
        self.when_changed: Callable[[], None] = lambda: None
        """Called when `wait_s` or `stopped_s` has changed."""

    def add(self, arrival: Event, amount: float) -> None:
        """``amount`` is under way until ``arrival``."""
        self._began_s[arrival] = self._sim.now
        self._taken += amount
        arrival.callbacks.append(partial(self._leave, amount))

    def free(self, amount: float) -> bool:
        """Whether nothing waits and there is room for ``amount`` more, as there always is if it comes alone."""
        return not self._waiting and self._fits(amount)

    def enter(self, amount: float, since_s: float, then: Callable[[], None]) -> None:
        """Call ``then`` when there is room for ``amount`` more of a lane that has been loading since ``since_s``.

        There is none now (`free`).
        """
        if not self._waiting:
            oldest_s = next(iter(self._began_s.values()), self._sim.now)
            self._stopped_s = max(oldest_s + self._lasted_s - self._sim.now, 0.0)
        heappush(self._waiting, _Waiting(since_s, next(self._turns), amount, then))
        self.when_changed()

    def queue(self, most: float, since_s: float) -> Generator:
        """Wait until no more than ``most`` waits for room of lanes that have been loading since ``since_s``."""
        if self._ahead_of(since_s) > most:
            shorter = self._sim.event()
            self._blocked.append((most, since_s, shorter))
            yield shorter

    def wait_s(self) -> float:
        """Seconds that an access to shared memory waits for loads which find room one after the other."""
        if not self._waiting or self._stopped_s:
            return 0.0
        return min(self._ahead_of(inf), self._ahead) * self._s_per_amount

    def stopped_s(self) -> float:
        """How long no access to shared memory passes, because no load that waits has found room yet; 0 if they do."""
        return self._stopped_s if self._waiting and self._ahead else 0.0

    def _ahead_of(self, since_s: float) -> float:
        """How much waits of lanes that have been loading since ``since_s`` or longer."""
        return sum(one.amount for one in self._waiting if one.since_s <= since_s)

    def _fits(self, amount: float) -> bool:
        return not self._began_s or self._taken + amount <= self.size

    def _leave(self, amount: float, arrival: Event) -> None:
        self._lasted_s = self._sim.now - self._began_s.pop(arrival)
        self._taken -= amount
        if self._waiting:
            self._let_in()

    def _let_in(self) -> None:
        waiting, entered = self._waiting, 0.0
        while waiting and self._fits(waiting[0].amount):
            first = heappop(waiting)
            entered += first.amount
            first.then()
        if not entered:
            return
        now = self._sim.now
        if not self._stopped_s:
            self._s_per_amount = (now - self._entered_s) / entered
        self._entered_s, self._stopped_s = now, 0.0
        blocked, self._blocked = self._blocked, []
        for most, since_s, shorter in blocked:
            if self._ahead_of(since_s) <= most:
                shorter.succeed()
            else:
                self._blocked.append((most, since_s, shorter))
        self.when_changed()
