"""Every mistake a user can make has one class here, but for `gpusim.deadlock`; ``str()`` of it is the whole message.

They stand apart from the modules that raise them so that nothing has to be imported to
catch them. `GpusimError` is a ValueError: bad input, never a bug in this package.

``args`` of each are the arguments it was made of, so that a copy can be made of it: that is
how exceptions leave a simulated process and a worker process.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = [
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


_TELLING = 3
"""Letters from which on the beginning of a name tells which is meant."""


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """The allowed name that begins with ``name``, else the one that looks most like it, or None when nothing does."""
    by_fold = {choice.casefold(): choice for choice in allowed}
    given = str(name).casefold()[:100]
    # b200 looks more like h200 than h200_sxm does, and is another thing.
    longer = [choice for choice in by_fold if choice.startswith(given)] if len(given) >= _TELLING else []
    found = difflib.get_close_matches(given, longer or by_fold, n=1, cutoff=0.0 if longer else 0.6)
    return by_fold[found[0]] if found else None


def listing(names: Iterable[object], limit: int = 24) -> str:
    """Names joined by commas, cut after ``limit`` so that a message stays readable."""
    shown = [str(name) for name in names]
    if len(shown) <= limit + 1:  # to tell how many are left out takes as much room as one
        return ", ".join(shown)
    return ", ".join(shown[:limit]) + f", … ({len(shown) - limit} more)"


class GpusimError(ValueError):
    """Something the user can put right. ``str()`` is the message to show, without a traceback.

    ``place`` is where the reason stands, as "own.yaml:12:5: kernel.roles.loader"; empty where no file is known.
    """

    place = ""
    kernel = ""
    """Name of the kernel of a host program, where the error was found as that kernel ran; else empty."""

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

    ``about`` is what it is about below the program, as ("graphs", "g"); empty for all of it. ``role``, ``at``: at which
    op of a kernel it was found, as of `HazardError`.
    """

    def __init__(
        self, problem: str, about: tuple[str, ...] = (), role: str = "", at: tuple[int, int] | None = None
    ) -> None:
        super().__init__(problem, about, role, at)
        self.problem = problem
        self.about = about
        self.role = role
        self.at = at

    def _message(self) -> str:
        return self.problem


class HazardError(GpusimError):
    """A pipeline that would overwrite or read live data, named by role, ring, stage and tile.

    ``stage`` is negative where no ring has part in it; ``ring`` may then name a barrier, or nothing.
    ``at``: at which op it was found, as (tiles of the CTA, number of the op among those of its role), where known.
    """

    def __init__(
        self, role: str, ring: str, stage: int, tile: int, what: str, remedy: str, at: tuple[int, int] | None = None
    ) -> None:
        super().__init__(role, ring, stage, tile, what, remedy, at)
        self.role = role
        self.ring = ring
        self.stage = stage
        self.tile = tile
        self.what = what
        self.remedy = remedy
        self.at = at

    def found_at(self, at: tuple[int, int]) -> HazardError:
        """The same error, found at that op."""
        return HazardError(*self.args[:-1], at)

    def _message(self) -> str:
        place = f" (ring {self.ring!r}, stage {self.stage})" if self.stage >= 0 else ""
        return f"{self.role} at tile {self.tile}: {self.what}{place}; {self.remedy}"


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
