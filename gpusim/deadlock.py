"""Nothing can go on: who waits for what, the circle among them, and what to look at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from gpusim.errors import GpusimError

__all__ = ["HOST_FUNCTION", "SLOT_OF", "Blocked", "Deadlock", "thread_lane"]

HOST_FUNCTION = "host function"
"""How the name of a host function in a stream begins."""
SLOT_OF = "a free slot of "
"""How what a thread of the host waits for begins, where it is one of several slots."""
_IN_WORDS = {"stage_full": "no free stage", "stage_empty": "no filled stage", "memory_pool": "none left"}
"""Reasons of waits whose names say what the ring is, not what is missing."""
_NO_ROOM = "stage_full"
"""Reason of waits for a stage to be given back."""
_IN_ORDER = "stream_order"
"""Reason of waits that only pass on what holds up somebody else."""
_TOO_MANY = "all that come to it are there, and it asks for more of them: compare the counts"
_LINES = 6
"""Who waits is told in so many lines at most."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A lane that will never go on.

    ``waits_for`` names the object, ``satisfied_by`` the lanes that could have released it, ``progress`` how far
    it has come ("phase 0 has 4 of 5 arrivals"). A lane may wait for the end of another one, or of itself. ``part`` is
    what number ``tile`` is one of: a chunk, where the lane is a thread of the host. ``missing`` is what to add, where
    the program shows it. It ``meets`` others there, and so has arrived itself.
    """

    lane: str
    reason: str
    waits_for: str
    satisfied_by: tuple[str, ...] = ()
    tile: int = -1
    progress: str = ""
    part: str = "tile"
    missing: str = ""
    meets: bool = False

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
        return f"; could be satisfied by {_of_lanes(self.satisfied_by)}"


def thread_lane(name: str) -> str:
    """How a thread of the host is called in a deadlock."""
    return f"thread {name!r}"


_WARP = re.compile(r"\.warp\[\d+\]$")
_NUMBERS = re.compile(r"\bsm\[\d+\]\.cta\[\d+\]|\.warp\[\d+\]")
"""What lanes of warps and CTAs that do the same differ in."""


class Deadlock(GpusimError):  # noqa: N818 - it is what happens: nothing can go on
    """Nothing can happen any more, and these lanes still wait.

    ``at_s`` is when; the message leaves it out, because `gpusim check` predicts no times. ``cycle`` names lanes each
    of which waits for the next, the first one again at the end; empty if there is no such circle among the
    ``blocked``. ``remedy`` says what to look at.
    """

    def __init__(self, at_s: float, blocked: Iterable[Blocked]) -> None:
        self.blocked = _still_to_come(blocked)
        super().__init__(at_s, self.blocked)
        self.at_s = at_s
        self.cycle = _cycle(self.blocked)

    def _message(self) -> str:
        alike = shown = _alike(self.blocked)
        if len(alike) > _LINES:
            shown = sorted([one for one in alike if one[0].reason != _IN_ORDER] or alike, key=self._rank)[:_LINES]
        lines = ["deadlock: nothing can go on", *map(_line, shown)]
        if left := len(self.blocked) - sum(map(len, shown)):
            lines.append(f"{left} more wait behind these")
        if self.cycle:
            lines.append(f"cycle: {' -> '.join(_few(self.cycle))}")
        return "\n  ".join((*lines, self.remedy))

    def _rank(self, alike: list[Blocked]) -> tuple[bool, bool]:
        """What tells most comes first: who waits for nobody, and who is in the circle."""
        return bool(alike[0].satisfied_by), alike[0].lane not in self.cycle

    @property
    def chief(self) -> Blocked:
        """Whose wait the remedy is about: nobody to arrive comes before a circle, because it causes one."""
        ways = (lambda one: not one.satisfied_by, lambda one: one.missing, self._left_alone)
        found = [entry for way in ways for entry in self.blocked if way(entry)]
        return next(iter(found or [entry for entry in self.blocked if entry.lane in self.cycle] or self.blocked))

    def _left_alone(self, entry: Blocked) -> bool:
        """Whether all who could help have ended."""
        return {other.lane for other in self.blocked}.isdisjoint(entry.satisfied_by)

    @property
    def remedy(self) -> str:
        """What would let somebody go on."""
        chief = self.chief
        if not chief.satisfied_by:
            # Of one line that says so it need not be said again.
            several = len(_alike(self.blocked)) > 1
            what = f"nobody ever satisfies {chief.waits_for}: " if several else ""
            return f"{what}{chief.missing or 'add what is missing, or do not wait for it'}"
        if chief.missing:
            return chief.missing
        if self._left_alone(chief):
            what = chief.waits_for.removeprefix(SLOT_OF)
            return f"{_of_lanes(chief.satisfied_by)} ended before {what} had enough: compare the counts"
        if set(chief.satisfied_by) == {chief.lane} != {chief.waits_for}:
            early = ", or let it acquire fewer tiles ahead (at most `ahead: full`)" if chief.reason == _NO_ROOM else ""
            return f"{chief.lane} waits for what it does itself further down: put that in front of the wait{early}"
        if any(entry.reason == "host_sync" and entry.lane.startswith(HOST_FUNCTION) for entry in self.blocked):
            return "a host function may not wait for the device: let a thread do so, or a stream by an event"
        counted = any(entry.progress and not entry.waits_for.startswith(SLOT_OF) for entry in self.blocked)
        fewer = ", or fewer arrivals have to be enough" if counted else ""
        more = ", or a ring needs more stages" if any(entry.reason == _NO_ROOM for entry in self.blocked) else ""
        return f"one of them has to do its part before it waits{fewer}{more}"


def _still_to_come(blocked: Iterable[Blocked]) -> tuple[Blocked, ...]:
    """The same, of barriers at which lanes meet without those that are there already: it is others that are missing."""
    entries = tuple(blocked)
    there = {(entry.lane, entry.waits_for) for entry in entries if entry.meets}
    return tuple(_without(entry, there) if entry.meets else entry for entry in entries)


def _without(entry: Blocked, there: Collection[tuple[str, str]]) -> Blocked:
    """The entry without lanes that are ``there``, at the same barrier."""
    others = tuple(lane for lane in entry.satisfied_by if (lane, entry.waits_for) not in there)
    all_there = entry.satisfied_by and not others
    return replace(entry, satisfied_by=others, missing=entry.missing or (_TOO_MANY if all_there else ""))


def _alike(blocked: Iterable[Blocked]) -> list[list[Blocked]]:
    """All warps and CTAs that wait alike together."""
    found: dict[str, list[Blocked]] = {}
    for entry in blocked:
        found.setdefault(_NUMBERS.sub("", str(entry)), []).append(entry)
    return list(found.values())


def _of_lanes(lanes: Iterable[str]) -> str:
    """The lanes, warps of one role as one."""
    return ", ".join(dict.fromkeys(_WARP.sub("", lane) for lane in lanes))


def _line(alike: list[Blocked]) -> str:
    more = f"; {len(alike) - 1} more wait alike" if len(alike) > 1 else ""
    return f"{alike[0]}{more}"


def _few(lanes: tuple[str, ...]) -> tuple[str, ...]:
    """The lanes of a circle, of a long one those around its beginning."""
    left_out = len(lanes) - _LINES
    return lanes if left_out < 2 else (*lanes[: _LINES // 2], f"… {left_out} more …", *lanes[-(_LINES // 2) :])


def _cycle(blocked: tuple[Blocked, ...]) -> tuple[str, ...]:
    """A circle of lanes, each satisfied by the next; the shortest way round from the first lane that is on one.

    Who just stands in a queue begins it only if all do.
    """
    # Who arrives at a barrier and waits for the others does not wait for itself.
    waits = {
        entry.lane: [lane for lane in entry.satisfied_by if lane != entry.lane or lane == entry.waits_for]
        for entry in blocked
    }
    waits = _without_ends(waits)
    reasons = {entry.lane: entry.reason for entry in blocked}
    for start in sorted(waits, key=lambda lane: reasons[lane] == _IN_ORDER):
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


def _without_ends(waits: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The same without the lanes from which no way leads into a circle."""
    behind: dict[str, list[str]] = {lane: [] for lane in waits}
    ways = {lane: [other for other in others if other in waits] for lane, others in waits.items()}
    for lane, others in ways.items():
        for other in others:
            behind[other].append(lane)
    left = {lane: len(others) for lane, others in ways.items()}
    ends = [lane for lane, count in left.items() if not count]
    for lane in ends:
        for other in behind[lane]:
            left[other] -= 1
            if not left[other]:
                ends.append(other)
    return {lane: others for lane, others in ways.items() if left[lane]}
