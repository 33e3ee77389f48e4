"""Every mistake a user can make has one class here; ``str()`` of it is the whole message.

They stand apart from the modules that raise them so that nothing has to be imported to
catch them. `GpusimError` is a ValueError: bad input, never a bug in this package.

``args`` of each are the arguments it was made of, so that a copy can be made of it: that is
how exceptions leave a simulated process and a worker process.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "Blocked",
    "Deadlock",
    "DoesNotFit",
    "GpusimError",
    "HazardError",
    "ProfileError",
    "ProgramError",
    "RecordingError",
    "ScenarioError",
    "TechniqueError",
    "UnitError",
    "listing",
    "nearest",
]


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that looks most like ``name``, or None when nothing does."""
    by_fold = {choice.casefold(): choice for choice in allowed}
    found = difflib.get_close_matches(str(name).casefold()[:100], by_fold, n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def listing(names: Iterable[object], limit: int = 24) -> str:
    """Names joined by commas, cut after ``limit`` so that a message stays readable."""
    shown = [str(name) for name in names]
    if len(shown) <= limit:
        return ", ".join(shown)
    return ", ".join(shown[:limit]) + f", … ({len(shown) - limit} more)"


class GpusimError(ValueError):
    """Something the user can put right. ``str()`` is the message to show, without a traceback.

    ``place`` is where the reason stands, as "own.yaml:12:5: kernel.roles.loader"; empty where no file is known.
    """

    place = ""

    @property
    def message(self) -> str:
        """What is wrong, without its place."""
        return self._message()

    def _message(self) -> str:
        return super().__str__()

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class UnitError(GpusimError):
    """A quantity that cannot be read, has another dimension, or makes no sense (NaN, negative)."""


class TechniqueError(GpusimError):
    """A technique that is not installed, or parameters it does not accept."""


class ScenarioError(GpusimError):
    """A scenario that cannot be used.

    ``field`` is the dotted path inside the scenario; ``line`` and ``column`` count from 1
    and are None where there is no file. ``given`` is what stands there, ``allowed`` what
    may stand there, ``suggestion`` the nearest valid name. ``others`` are further mistakes of the same
    file, each with a line of the message; ``unlisted`` is how many more there are.
    """

    def __init__(
        self,
        problem: str,
        file: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
        field: str = "",
        given: Any = None,
        allowed: str = "",
        suggestion: str | None = None,
        others: Iterable[ScenarioError] = (),
        unlisted: int = 0,
    ) -> None:
        self.others = tuple(others)
        super().__init__(problem, file, line, column, field, given, allowed, suggestion, self.others, unlisted)
        self.problem = problem
        self.file = None if file is None else str(file)
        self.line = line
        self.column = column
        self.field = field
        self.given = given
        self.allowed = allowed
        self.suggestion = suggestion
        self.unlisted = unlisted

    def with_others(self, others: Iterable[ScenarioError], unlisted: int = 0) -> ScenarioError:
        """The same error in front of further ones of its file."""
        return ScenarioError(*self.args[:-2], others, unlisted)

    def _message(self) -> str:
        more = f"\n… and {self.unlisted} more" if self.unlisted else ""
        return "\n".join([self._line(), *map(str, self.others)]) + more

    def _line(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        # "--set kernel.grid" names its field already.
        field = "" if place.endswith(f" {self.field}") else self.field
        message = ": ".join(part for part in (place, field, self.problem) if part)
        return message + _hints(self.allowed, self.suggestion)


class ProfileError(GpusimError):
    """An unknown device, an unknown quantity of a device, or an unusable value for one.

    ``key`` is the quantity, or None when the device itself is unknown.
    """

    def __init__(self, problem: str, key: str | None = None, given: Any = None, allowed: Iterable[str] = ()) -> None:
        self.allowed = tuple(allowed)
        super().__init__(problem, key, given, self.allowed)
        self.problem = problem
        self.key = key
        self.given = given
        self.suggestion = nearest(str(given if key is None else key), self.allowed)

    def _message(self) -> str:
        return self.problem + _hints(listing(self.allowed), self.suggestion)


class DoesNotFit(GpusimError):  # noqa: N818 - it is what happens: the kernel does not fit
    """A demand beyond what the device has; ``lever`` says what to change.

    ``demand`` and ``bound`` are plain numbers in ``unit``; ``what`` completes "needs 240
    KiB *of shared memory per CTA*"; ``subject`` is whose demand it is.
    """

    def __init__(
        self,
        demand: float,
        bound: float,
        unit: str,
        what: str,
        lever: str,
        subject: str = "the kernel",
        device: str = "the device",
    ) -> None:
        super().__init__(demand, bound, unit, what, lever, subject, device)
        self.demand = demand
        self.bound = bound
        self.unit = unit
        self.what = what
        self.lever = lever
        self.subject = subject
        self.device = device

    def _message(self) -> str:
        needs, allows = _amount(self.demand, self.unit), _amount(self.bound, self.unit)
        return f"{self.subject} needs {needs} {self.what}, {self.device} allows {allows}; {self.lever}"


class ProgramError(GpusimError):
    """A program that makes no sense: no warps, an op on a ring or barrier that does not exist.

    ``about`` is what it is about below the program, as ("graphs", "g"); empty for all of it.
    """

    def __init__(self, problem: str, about: tuple[str, ...] = ()) -> None:
        super().__init__(problem, about)
        self.problem = problem
        self.about = about

    def _message(self) -> str:
        return self.problem


class HazardError(GpusimError):
    """A pipeline that would overwrite or read live data, named by role, ring, stage and tile.

    ``stage`` is negative where no ring has part in it; ``ring`` may then name a barrier, or nothing.
    """

    def __init__(self, role: str, ring: str, stage: int, tile: int, what: str, remedy: str) -> None:
        super().__init__(role, ring, stage, tile, what, remedy)
        self.role = role
        self.ring = ring
        self.stage = stage
        self.tile = tile
        self.what = what
        self.remedy = remedy

    def _message(self) -> str:
        place = f" (ring {self.ring!r}, stage {self.stage})" if self.stage >= 0 else ""
        return f"{self.role} at tile {self.tile}: {self.what}{place}; {self.remedy}"


_IN_WORDS = {"stage_full": "no free stage", "stage_empty": "no filled stage", "memory_pool": "none left"}
"""Reasons of waits whose names say what the ring is, not what is missing."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A lane that will never go on.

    ``waits_for`` names the object, ``satisfied_by`` the lanes that could have released it, ``progress`` how far
    it has come ("phase 0 has 4 of 5 arrivals"). A lane may wait for the end of another one, or of itself.
    """

    lane: str
    reason: str
    waits_for: str
    satisfied_by: tuple[str, ...] = ()
    tile: int = -1
    progress: str = ""

    def __str__(self) -> str:
        at = f" at tile {self.tile}" if self.tile >= 0 else ""
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

    ``cycle`` names lanes each of which waits for the next, the first one again at the end; empty if there is no
    such circle among the ``blocked``. ``remedy`` says what to look at.
    """

    def __init__(self, at_s: float, blocked: Iterable[Blocked]) -> None:
        self.blocked = tuple(blocked)
        super().__init__(at_s, self.blocked)
        self.at_s = at_s
        self.cycle = _cycle(self.blocked)

    def _message(self) -> str:
        lines = [f"deadlock after {self.at_s * 1e6:.3f} us: nothing can go on", *_told(self.blocked)]
        if self.cycle:
            lines.append(f"cycle: {' -> '.join(self.cycle)}")
        return "\n  ".join((*lines, self.remedy))

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
        fewer = ", or fewer arrivals have to be enough" if any(entry.progress for entry in self.blocked) else ""
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


class RecordingError(GpusimError):
    """A recording that is missing, unreadable, or belongs to another device or kernel."""

    def __init__(self, problem: str, path: str | Path | None = None) -> None:
        super().__init__(problem, path)
        self.problem = problem
        self.path = None if path is None else str(path)

    def _message(self) -> str:
        return self.problem if self.path is None else f"{self.path}: {self.problem}"


def _hints(allowed: str, suggestion: str | None) -> str:
    return (f" (allowed: {allowed})" if allowed else "") + (f". Did you mean {suggestion!r}?" if suggestion else "")


def _amount(value: float, unit: str) -> str:
    if unit == "bytes" and value >= 1024:
        return f"{value / 1024:,.6g} KiB"
    return f"{value:,.10g} {unit}"
