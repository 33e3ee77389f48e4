"""One scenario ready to be shown: both sides, their numbers, and where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from gpusim.dashboard.figure.marks import CriticalLine
from gpusim.dashboard.figure.match import Match, match_events
from gpusim.dashboard.figure.track import MICRO, Track
from gpusim.dashboard.page.form import Form
from gpusim.dashboard.page.scenario_text import ScenarioText
from gpusim.dashboard.page.sweeps import Sweep
from gpusim.scenario import Advice
from gpusim.timeline.critical_path import critical_path
from gpusim.timeline.metrics import outside_of_kernels

__all__ = [
    "MEASURED",
    "OWN_POINT",
    "UNCHANGED",
    "Asked",
    "Badge",
    "Case",
    "CaseError",
    "CaseSource",
    "Cost",
    "Entry",
    "Finder",
    "Numbers",
    "Point",
]


OWN_POINT = "own"
"""The point that stands for the scenario's own parameters."""
MEASURED, UNCHANGED = "measured", "unchanged"
"""What a prediction stands against: a recording, or what is predicted without the changes of a what-if."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wants to see: a scenario, perhaps at a recorded point of its technique, perhaps changed.

    ``changes`` are those of a what-if, as ``--set`` of the command line has them. ``against``: `MEASURED` or
    `UNCHANGED`, "" for the first of them that there is. ``imported``: the key of a trace that takes the place of the
    recording, "" for none. ``text``: what was made of the scenario's text, to which the changes come, where changes
    alone do not say it; None for its own.
    """

    name: str
    point: str = OWN_POINT
    changes: tuple[str, ...] = ()
    against: str = ""
    imported: str = ""
    text: str | None = None

    @property
    def altered(self) -> bool:
        """Whether it is something else than its file says."""
        return bool(self.changes) or self.text is not None

    @property
    def key(self) -> str:
        """Tells it from everything else that can be asked for."""
        text = [] if self.text is None else [f"text {hashlib.sha256(self.text.encode()).hexdigest()[:16]}"]
        parts = (self.name, self.point, *text, *self.changes, self.against, self.imported)
        return "|".join(parts[: None if self.imported else -1])


class CaseError(Exception):
    """A scenario that cannot be shown. ``str()`` is the message for the page; ``title`` its heading.

    ``fields``: dotted paths inside the scenario where something is wrong, as far as that is known; ``lines``: of its
    text, without changes.
    """

    def __init__(
        self, message: str, title: str = "This scenario cannot be shown", fields: Iterable[str] = (),
        lines: Iterable[int] = (),
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.title = title
        self.fields = tuple(fields)
        self.lines = tuple(lines)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the scenario list. ``error`` is set for a file that cannot be read.

    ``recorded``: 0 nothing, 1 a run time, 2 a timeline with exactly these parameters.
    """

    name: str
    question: str
    error: str = ""
    recorded: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """A recorded set of parameters that can be looked at in place of the scenario's own."""

    key: str
    label: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A small mark beside the question. ``tone``: "good", "plain", "warn"."""

    text: str
    tone: str = "plain"
    why: str = ""


@dataclass(frozen=True)
class Numbers:
    """Figures of one side, SI units; None where one is not known."""

    total_s: float | None = None
    hidden_fraction: float | None = None
    exposed_s: float | None = None
    period_s: float | None = None
    speedup: float | None = None
    spread: float | None = None
    """Relative spread of repeated measurements."""
    range_s: tuple[float, float] | None = None
    """The quickest and the slowest of them."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a CTA of a kernel takes of its SM."""

    shared_bytes: int
    registers: int
    """Per thread."""
    warps: int


@dataclass(frozen=True)
class Case:
    """Everything the page shows of a scenario. ``band`` is the claimed relative error of the total.

    ``other`` and ``other_numbers`` are what the prediction stands ``against``, if there is anything.
    """

    name: str
    question: str
    facts: tuple[str, ...]
    predicted: Track
    other: Track | None
    predicted_numbers: Numbers
    other_numbers: Numbers | None = None
    against: str = MEASURED
    band: float | None = None
    hidden_band: float | None = None
    """Claimed difference of the hidden fraction."""
    stamped_hidden: float | None = None
    """The hidden fraction predicted for a kernel that takes time stamps, where the measured one did."""
    watched: tuple[str, ...] = ()
    """Rings whose copies the hidden fractions compared are of, where the recording shows fewer than there are."""
    unmeasured: str = ""
    """What there is no measurement for, or how to make one, where there is none."""
    gap: str = ""
    """Why the case is known to be outside its band, if it is."""
    unlike: str = ""
    """That the measured side did other work than the predicted one, and in what, if it did."""
    baseline: str = ""
    """What the speed-up is over, "" where nothing can be serialised; there may be no speed-up yet."""
    bottleneck: str = ""
    lever: str = ""
    occupancy: str = ""
    limiter: str = ""
    warps: Mapping[str, int] = field(default_factory=dict)
    """Warps of each role of a kernel."""
    cost: Cost | None = None
    """None for a program of the host."""
    badges: tuple[Badge, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    point: str = OWN_POINT
    changes: tuple[str, ...] = ()
    altered: bool = False
    """Whether it is something else than its file says."""
    recorded: bool = False
    """Whether there is a recording, whatever the prediction stands against."""
    imported: str = ""
    """The name of the file that takes the place of the recording, if one does."""
    side_notes: Mapping[str, str] = field(default_factory=dict)
    """A few words beside the title of a side's panel."""

    @property
    def error(self) -> float | None:
        """Predicted total over the other one, minus one: the signed error, or what a change does."""
        theirs = self.other_numbers.total_s if self.other_numbers else None
        ours = self.predicted_numbers.total_s
        return ours / theirs - 1 if theirs and ours else None

    @property
    def hidden_error(self) -> float | None:
        """Predicted hidden fraction minus the other one, None where one side does not know it; like with like."""
        ours = self.predicted_numbers.hidden_fraction if self.stamped_hidden is None else self.stamped_hidden
        theirs = self.other_numbers.hidden_fraction if self.other_numbers else None
        return None if ours is None or theirs is None else ours - theirs

    @cached_property
    def match(self) -> Match | None:
        """Pairs of events, or None without another timeline."""
        if self.other is None:
            return None
        titles = (self.predicted.title, self.other.title)
        return match_events(self.predicted.timeline, self.other.timeline, titles)

    @cached_property
    def critical(self) -> CriticalLine:
        """The predicted critical path."""
        # Lanes inside of kernels come last, so that intervals have the same numbers without them.
        steps = critical_path(outside_of_kernels(self.predicted.timeline)).steps
        return CriticalLine(
            np.array([s.index for s in steps], dtype=np.int64),
            np.array([s.start_s for s in steps]) * MICRO,
            np.array([s.end_s for s in steps]) * MICRO,
        )


Finder = Callable[[str, str, Mapping[str, Any]], "Asked | None"]
"""Technique, device and parameters to what shows them; None where no scenario is of that technique."""


class CaseSource(Protocol):
    """Where the page takes its scenarios from."""

    def entries(self) -> list[Entry]:
        """All scenarios, readable or not, in display order."""

    def case(self, asked: Asked, *, quick: bool = False) -> Case:
        """What is asked for, predicted and measured; ``quick`` without a speed-up that is not known yet.

        Raises CaseError.
        """

    def advice(self, asked: Asked) -> Advice:
        """What changes of it would gain; takes as long as a dozen predictions. Raises CaseError."""

    def form(self, asked: Asked) -> Form:
        """What can be changed of it, with the values it has. Raises CaseError."""

    def text(self, asked: Asked) -> ScenarioText:
        """The text of it, right or wrong; empty where there is none."""

    def sweep(self, asked: Asked) -> Sweep:
        """Its sweep, predicted and measured; takes as long as that many predictions. Raises CaseError."""

    def finder(self) -> Finder:
        """How to find recorded parameters among the scenarios as they are now."""

    def import_trace(self, asked: Asked, file: str, content: bytes) -> str:
        """Keep a trace to compare with; what `Asked` is to call it. Raises CaseError where it cannot be compared."""

    def save(self, asked: Asked, name: str) -> None:
        """Make it a scenario of its own, called ``name``. Raises CaseError."""

    def stamp(self, name: str) -> str:
        """A word that differs when the scenario has changed since; "" for one that is not there."""
