"""One scenario ready to be shown: both sides, their numbers, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from gpusim.dashboard.match import Match, match_events
from gpusim.dashboard.track import MICRO, Track
from gpusim.scenario import Advice
from gpusim.timeline.critical_path import critical_path

__all__ = ["OWN_POINT", "Badge", "Case", "CaseError", "Entry", "Numbers", "Path", "Point", "Source"]


OWN_POINT = "own"
"""The point that stands for the scenario's own parameters."""


class CaseError(Exception):
    """A scenario that cannot be shown. ``str()`` is the message for the page; ``title`` its heading."""

    def __init__(self, message: str, title: str = "This scenario cannot be shown") -> None:
        super().__init__(message)
        self.title = title


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
class Path:
    """The critical path: interval indices with the part of each that counts, µs."""

    index: np.ndarray
    start_us: np.ndarray
    end_us: np.ndarray


@dataclass(frozen=True)
class Case:
    """Everything the page shows of a scenario. ``band`` is the claimed relative error of the total."""

    name: str
    question: str
    facts: tuple[str, ...]
    predicted: Track
    measured: Track | None
    predicted_numbers: Numbers
    measured_numbers: Numbers | None = None
    band: float | None = None
    hidden_band: float | None = None
    """Claimed difference of the hidden fraction."""
    stamped_hidden: float | None = None
    """The hidden fraction predicted for a kernel that takes time stamps, where the measured one did."""
    unmeasured: str = ""
    """What there is no measurement for, or how to make one, where there is none."""
    gap: str = ""
    """Why the case is known to be outside its band, if it is."""
    baseline: str = ""
    """What the speed-up is over, "" where nothing can be serialised."""
    bottleneck: str = ""
    lever: str = ""
    occupancy: str = ""
    limiter: str = ""
    warps: Mapping[str, int] = field(default_factory=dict)
    """Warps of each role of a kernel."""
    badges: tuple[Badge, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    point: str = OWN_POINT
    side_notes: Mapping[str, str] = field(default_factory=dict)
    """A few words beside the title of a side's panel."""

    @property
    def error(self) -> float | None:
        """Signed relative error of the predicted total: predicted over measured, minus one."""
        measured = self.measured_numbers.total_s if self.measured_numbers else None
        ours = self.predicted_numbers.total_s
        return ours / measured - 1 if measured and ours else None

    @property
    def hidden_error(self) -> float | None:
        """Predicted minus measured hidden fraction, None where one side does not know it; like with like."""
        ours = self.predicted_numbers.hidden_fraction if self.stamped_hidden is None else self.stamped_hidden
        theirs = self.measured_numbers.hidden_fraction if self.measured_numbers else None
        return None if ours is None or theirs is None else ours - theirs

    @cached_property
    def match(self) -> Match | None:
        """Pairs of events, or None without a measured timeline."""
        return match_events(self.predicted.timeline, self.measured.timeline) if self.measured else None

    @cached_property
    def critical(self) -> Path:
        """The predicted critical path."""
        steps = critical_path(self.predicted.timeline).steps
        return Path(
            np.array([s.index for s in steps], dtype=np.int64),
            np.array([s.start_s for s in steps]) * MICRO,
            np.array([s.end_s for s in steps]) * MICRO,
        )


class Source(Protocol):
    """Where the page takes its scenarios from."""

    def entries(self) -> list[Entry]:
        """All scenarios, readable or not, in display order."""

    def case(self, name: str, point: str = "") -> Case:
        """The scenario, or one of its recorded points. Raises CaseError."""

    def advice(self, name: str, point: str = "") -> Advice:
        """What changes of it would gain; takes as long as a dozen predictions. Raises CaseError."""
