"""Nothing can go on: who waits for what, the circle among them, and what to look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gpusim.errors import GpusimError

__all__ = ["SLOT_OF", "Blocked", "Deadlock"]

SLOT_OF = "a free slot of "
"""How what a thread of the host waits for begins, where it is one of several slots."""
_IN_WORDS = {"stage_full": "no free stage", "stage_empty": "no filled stage", "memory_pool": "none left"}
"""Reasons of waits whose names say what the ring is, not what is missing."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A lane that will never go on.

    ``waits_for`` names the object, ``satisfied_by`` the lanes that could have released it, ``progress`` how far
    it has come ("phase 0 has 4 of 5 arrivals"). A lane may wait for the end of another one, or of itself. ``part`` is
    what number ``tile`` is one of: a chunk, where the lane is a thread of the host.
    """

    lane: str
    reason: str
    waits_for: str
    satisfied_by: tuple[str, ...] = ()
    tile: int = -1
    progress: str = ""
    part: str = "tile"

    def of_host(self, names: Mapping[str, str]) -> Blocked:
        """The same in a host program, with lanes called by their ``names``, as far as they have some."""
        by = tuple(names.get(lane, lane) for lane in self.satisfied_by)
        return replace(self, lane=names.get(self.lane, self.lane), satisfied_by=by, part="chunk")

    def __str__(self) -> str:
        at = f" at {self.part} {self.tile}" if self.tile >= 0 else ""
        progress = f", {self.progress}" if self.progress else ""
        why = _IN_WORDS.get(self.reason, self.reason.replace("_", " "))
        return f"{self.lane} waits{at} for {self.waits_for} ({why}{progress}){self._help}"

    @property
    def _help(self) -> str:
        if self.satisfied_by == (self.waits_for,):
            return ""
        if not self.satisfied_by:
            return "; nobody ever satisfies it"
        return f"; could be satisfied by {', '.join(self.satisfied_by)}"


_NUMBERS = re.compile(r"\bsm\[\d+\]\.cta\[\d+\]|\.warp\[\d+\]")
"""What lanes of warps and CTAs that do the same differ in."""


class Deadlock(GpusimError):  # noqa: N818 - it is what happens: nothing can go on
    """Nothing can happen any more, and these lanes still wait.

    ``at_s`` is when; the message leaves it out, because `gpusim check` predicts no times. ``cycle`` names lanes each
    of which waits for the next, the first one again at the end; empty if there is no such circle among the
    ``blocked``. ``remedy`` says what to look at.
    """

    def __init__(self, at_s: float, blocked: Iterable[Blocked]) -> None:
        self.blocked = tuple(blocked)
        super().__init__(at_s, self.blocked)
        self.at_s = at_s
        self.cycle = _cycle(self.blocked)

    def _message(self) -> str:
        lines = ["deadlock: nothing can go on", *_told(self.blocked)]
        if self.cycle:
            lines.append(f"cycle: {' -> '.join(self.cycle)}")
        return "\n  ".join((*lines, self.remedy))

    @property
    def remedy(self) -> str:
        """What would let somebody go on; nobody to arrive comes before a circle, because it causes one."""
        alone = [entry for entry in self.blocked if not entry.satisfied_by]
        if alone:
            # Of one line that says so it need not be said again.
            several = len(list(_told(self.blocked))) > 1
            what = f"nobody ever satisfies {alone[0].waits_for}: " if several else ""
            return f"{what}add what is missing, or do not wait for it"
        stuck = {entry.lane for entry in self.blocked}
        for entry in self.blocked:
            if stuck.isdisjoint(entry.satisfied_by):
                what = entry.waits_for.removeprefix(SLOT_OF)
                return f"{', '.join(entry.satisfied_by)} ended before {what} had enough: compare the counts"
        counted = any(entry.progress and not entry.waits_for.startswith(SLOT_OF) for entry in self.blocked)
        fewer = ", or fewer arrivals have to be enough" if counted else ""
        return f"one of them has to do its part before it waits{fewer}"


def _told(blocked: Iterable[Blocked]) -> Iterator[str]:
    """A line for each, and one for all warps and CTAs that wait alike."""
    alike: dict[str, list[Blocked]] = {}
    for entry in blocked:
        alike.setdefault(_NUMBERS.sub("", str(entry)), []).append(entry)
    for first, *others in alike.values():
        yield f"{first}; {len(others)} more wait alike" if others else str(first)


def _cycle(blocked: tuple[Blocked, ...]) -> tuple[str, ...]:
    """A circle of lanes, each satisfied by the next; the shortest way round from the first lane that is on one."""
    # Who arrives at a barrier and waits for the others does not wait for itself.
    waits = {
        entry.lane: [lane for lane in entry.satisfied_by if lane != entry.lane or lane == entry.waits_for]
        for entry in blocked
    }
    for start in waits:
        paths: list[tuple[str, ...]] = [(start,)]
        seen = {start}
        for path in paths:
            for lane in waits[path[-1]]:
                if lane == start:
                    return (*path, start)
                if lane in waits and lane not in seen:
                    seen.add(lane)
                    paths.append((*path, lane))
    return ()
