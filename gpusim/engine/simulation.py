"""The event loop: SimPy's clock and processes, plus an account of who waits for what.

SimPy's ``run()`` returns normally when every process is blocked for ever. A model of
barriers must not: here each wait is registered with its reason, and a run that ends
with somebody still waiting raises `Deadlock`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

import simpy
from simpy import Event, Process

__all__ = ["Blocked", "Deadlock", "Event", "Probe", "Process", "Simulation"]

Probe = Callable[..., int]
"""``probe(lane, kind, start_s, end_s, reason, tile, stage, bytes, cause) -> index``."""

LATE = 2
"""Priority of events that run after all others of the same instant."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A lane that will never go on.

    ``waits_for`` names the object, ``satisfied_by`` the lanes that could have released it, ``progress`` how far
    it has come ("phase 0 has 4 of 5 arrivals").
    """

    lane: str
    reason: str
    waits_for: str
    satisfied_by: tuple[str, ...] = ()
    tile: int = -1
    progress: str = ""

    def __str__(self) -> str:
        at = f" at tile {self.tile}" if self.tile >= 0 else ""
        by = (
            f"could be satisfied by {', '.join(self.satisfied_by)}" if self.satisfied_by else "nobody ever satisfies it"
        )
        progress = f", {self.progress}" if self.progress else ""
        return f"{self.lane} waits{at} for {self.waits_for} ({self.reason}{progress}); {by}"


class Deadlock(RuntimeError):  # noqa: N818 - it is what happens: nothing can go on
    """Nothing can happen any more, and these lanes still wait.

    ``cycle`` names lanes each of which waits for the next, the first one again at the end; found among the
    ``blocked`` unless given, empty if there is none. ``remedy`` says what to look at.
    """

    def __init__(self, at_s: float, blocked: Iterable[Blocked], cycle: tuple[str, ...] | None = None) -> None:
        self.at_s = at_s
        self.blocked = tuple(blocked)
        self.cycle = _cycle(self.blocked) if cycle is None else cycle
        lines = [f"  {entry}" for entry in self.blocked]
        if self.cycle:
            lines.append(f"  cycle: {' -> '.join(self.cycle)}")
        text = "\n".join((f"deadlock after {at_s * 1e6:.3f} us: nothing can go on", *lines, f"  {self.remedy}"))
        super().__init__(text)

    @property
    def remedy(self) -> str:
        """What would let somebody go on; nobody to arrive comes before a circle, because it causes one."""
        alone = [entry for entry in self.blocked if not entry.satisfied_by]
        if alone:
            return f"nobody ever satisfies {alone[0].waits_for}: add what is missing, or do not wait for it"
        stuck = {entry.lane for entry in self.blocked}
        for entry in self.blocked:
            if stuck.isdisjoint(entry.satisfied_by):
                return f"{', '.join(entry.satisfied_by)} ended before {entry.waits_for} had enough: compare the counts"
        return "one of them has to do its part before it waits, or fewer arrivals have to be enough"


def _cycle(blocked: tuple[Blocked, ...]) -> tuple[str, ...]:
    """A circle of lanes, each satisfied by the next; the shortest way round from the first lane that is on one."""
    waits = {entry.lane: [lane for lane in entry.satisfied_by if lane != entry.lane] for entry in blocked}
    for start in waits:
        paths = [(start,)]
        seen = {start}
        for path in paths:
            for lane in waits[path[-1]]:
                if lane == start:
                    return (*path, start)
                if lane in waits and lane not in seen:
                    seen.add(lane)
                    paths.append((*path, lane))
    return ()


class Simulation:
    """One run: a clock in seconds, processes, registered waits and an optional probe.

    Ties are broken by (time, priority, serial number), so equal input gives equal output.
    """

    def __init__(self, probe: Probe | None = None) -> None:
        self.env = simpy.Environment()
        self.probe = probe
        self._waiting: dict[str, tuple[str, Any, int]] = {}

    @property
    def now(self) -> float:
        """Simulated seconds."""
        return self.env.now

    def process(self, generator: Generator) -> simpy.Process:
        """Start a process."""
        return self.env.process(generator)

    def event(self) -> simpy.Event:
        """A fresh untriggered event."""
        return self.env.event()

    def timeout(self, delay_s: float) -> simpy.Event:
        """An event that happens after ``delay_s``."""
        return self.env.timeout(delay_s)

    def call_late(self, callback: Callable[[simpy.Event], None]) -> None:
        """Call back once, after every other event of this instant."""
        event = simpy.Event(self.env)
        event._ok, event._value = True, None  # noqa: SLF001 - as SimPy's own Timeout, without its checks
        event.callbacks.append(callback)
        self.env.schedule(event, priority=LATE)

    def call_at(self, delay_s: float, callback: Callable[[simpy.Event], None]) -> simpy.Event:
        """Call back once after ``delay_s``, with the event that is returned."""
        event = simpy.Event(self.env)
        event._ok, event._value = True, None  # noqa: SLF001 - as SimPy's own Timeout, without its checks
        event.callbacks.append(callback)
        self.env.schedule(event, delay=delay_s)
        return event

    def wait(self, event: simpy.Event, lane: str, reason: str, target: Any, tile: int = -1) -> Generator:
        """Yield ``event`` while ``lane`` counts as waiting for ``target`` because of ``reason``.

        ``target`` has ``name`` and ``satisfiers`` (lanes that can release it), and may have ``progress``.
        """
        self._waiting[lane] = (reason, target, tile)
        value = yield event
        del self._waiting[lane]
        return value

    def run(self) -> float:
        """Run until nothing is left to do; returns the time.

        Raises Deadlock if a registered wait is still open then.
        """
        self.env.run()
        if self._waiting:
            raise Deadlock(
                self.now,
                [
                    Blocked(lane, reason, target.name, tuple(target.satisfiers), tile, getattr(target, "progress", ""))
                    for lane, (reason, target, tile) in self._waiting.items()
                ],
            )
        return self.now
