"""Slots as a semaphore: a thread takes one before it uses a buffer; a host function, or a thread, gives one back."""

from __future__ import annotations

from collections import Counter, deque

from gpusim.deadlock import SLOT_OF
from gpusim.engine import Event, Simulation
from gpusim.host.device.work import Item
from gpusim.program.host import HostFunc, HostProgram, Slots

__all__ = ["SlotSemaphore"]


class SlotSemaphore:
    """How many slots are free, and who waits for one.

    ``items`` is all work of the program so far, ``program`` all that there will be.
    """

    def __init__(self, sim: Simulation, spec: Slots, items: list[Item], program: HostProgram) -> None:
        self._sim, self._spec, self._items, self._program = sim, spec, items, program
        self._free = spec.count
        self._waiting: deque[Event] = deque()
        self._to_come: Counter[str] = Counter()
        self._given = 0
        self._ended: list[str] = []
        """Host threads that gave some back, or enqueued functions that do, and have made all their calls."""

    def expect(self, lane: str) -> None:
        """A host thread has one to give back later."""
        self._to_come[lane] += 1

    def end(self, lane: str) -> None:
        """A host thread that gives some back has made all its calls."""
        self._ended.append(lane)

    @property
    def name(self) -> str:
        """What a thread waits for, in a deadlock."""
        return f"{SLOT_OF}{self._spec.name!r}"

    @property
    def missing(self) -> str:
        """What to add if nobody gives any back, in a deadlock."""
        if self.satisfiers:
            return ""
        if any(self._gives(op) for thread in self._program.threads for op in thread.ops):
            return "the host_func that gives one back comes behind it: begin with more slots, or give back earlier"
        return f"put release: {self._spec.name} in a thread, or releases: {self._spec.name} in a host_func"

    @property
    def progress(self) -> str:
        """How many there were, in a deadlock."""
        return f"of {self._spec.count} at the beginning and {self._given} given back"

    @property
    def satisfiers(self) -> list[str]:
        """The functions and threads that have yet to give a slot back; if there are none, the threads that ended."""
        functions = [item.name for item in self._items if self._gives(item.op) and not item.finished]
        return [*functions, *self._to_come] or self._ended

    def _gives(self, op: object) -> bool:
        return isinstance(op, HostFunc) and op.releases == self._spec.name

    def take(self) -> Event | None:
        """Take a slot; or the event that a slot has been given to who asked."""
        if self._free:
            self._free -= 1
            return None
        self._waiting.append(self._sim.event())
        return self._waiting[-1]

    def give(self, lane: str = "") -> None:
        """Give a slot back, a host thread what was expected of its ``lane``; who waits longest gets it."""
        self._given += 1
        if lane:
            self._to_come -= Counter((lane,))
        if self._waiting:
            self._waiting.popleft().succeed()
        else:
            self._free += 1
