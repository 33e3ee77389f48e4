"""How well the model does over every recording there is, and the tables that say so.

Every recording takes part; none is left out for being far off. Besides the error of each
case the report asks the question a user has: does the model pick the stage count that is
the fastest on the device, or one within 2 % of it?
"""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any

from gpusim.validation.band import DEFAULT_BAND, Band
from gpusim.validation.comparison import Comparison

__all__ = ["Accuracy", "Choice", "ErrorSummary", "RecordedCase", "accuracy"]


@dataclass(frozen=True)
class RecordedCase:
    """One recording with its comparison. ``spread``: quartiles over median; ``stale``: the kernel has changed since.

    ``rings``: those of the ``params`` that say how many stages a ring has.
    """

    technique: str
    device: str
    params: dict[str, Any]
    comparison: Comparison
    spread: float = 0.0
    stale: bool = False
    rings: tuple[str, ...] = ()

    @property
    def stages(self) -> dict[str, int]:
        """Stages of each ring, by the parameter that says it."""
        return {name: self.params[name] for name in self.rings}

    @property
    def rest(self) -> dict[str, Any]:
        """All other parameters."""
        return {name: value for name, value in self.params.items() if name not in self.rings}

    @property
    def label(self) -> str:
        """Parameters in one line."""
        return ", ".join(f"{name}={value}" for name, value in self.params.items())


@dataclass(frozen=True)
class Choice:
    """Cases that differ in the stages of their rings alone: what the model would pick, and what that costs.

    ``loss`` is the measured time of the predicted best over the measured best, minus one.
    """

    technique: str
    device: str
    params: dict[str, Any]
    predicted_best: dict[str, int]
    measured_best: dict[str, int]
    loss: float

    def right(self, band: Band = DEFAULT_BAND) -> bool:
        """The best stages, or some within the band's ``choice`` of them."""
        return self.loss <= band.choice


@dataclass(frozen=True)
class ErrorSummary:
    """The errors of one technique or device, by its ``name``; fractions of the measured total (hidden: differences).

    ``cases_within``: how many of the ``cases`` have a total within the band's ``worst``, known gaps or not.
    """

    name: str
    cases: int
    cases_within: int
    mean_abs: float
    worst: float
    worst_case: str
    hidden_mean_abs: float | None
    hidden_worst: float | None
    choices: int
    choices_right: int
    known_gaps: int

    @property
    def percent_within(self) -> int:
        """The share of `cases_within` in whole percent, rounded down: 100 is every one of them."""
        return 100 * self.cases_within // self.cases

    def within(self, band: Band = DEFAULT_BAND) -> bool:
        """All that is claimed holds for these cases."""
        hidden = self.hidden_worst is None or abs(self.hidden_worst) <= band.hidden
        choice = self.choices == self.choices_right
        return self.mean_abs <= band.mean and abs(self.worst) <= band.worst and hidden and choice


@dataclass(frozen=True)
class Accuracy:
    """All cases, by technique, by device where there are several, and altogether (None without any case)."""

    cases: tuple[RecordedCase, ...]
    choices: tuple[Choice, ...]
    techniques: tuple[ErrorSummary, ...]
    devices: tuple[ErrorSummary, ...]
    overall: ErrorSummary | None
    band: Band

    @property
    def holds(self) -> bool:
        """Every technique is within the band without its known gaps: what is claimed, as `Comparison.within` has it."""
        claimed = accuracy((case for case in self.cases if not case.comparison.gap), self.band)
        return all(row.within(self.band) for row in claimed.techniques)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON. ``within`` of a technique counts its known gaps, ``holds`` leaves them out.

        ``within`` says whether all that is claimed holds in every case, ``share_within`` in what part of them the
        total does.
        """
        return {
            "band": asdict(self.band),
            "holds": self.holds,
            "overall": None if self.overall is None else self._row("technique", self.overall),
            "techniques": [self._row("technique", row) for row in self.techniques],
            "devices": [self._row("device", row) for row in self.devices],
            "choices": [{**asdict(choice), "right": choice.right(self.band)} for choice in self.choices],
            "cases": [
                {
                    "technique": case.technique, "device": case.device, "params": case.params,
                    "spread": case.spread, "stale": case.stale, **case.comparison.as_dict(),
                }
                for case in self.cases
            ],
        }  # fmt: skip

    def _row(self, kind: str, row: ErrorSummary) -> dict[str, Any]:
        values = asdict(row)
        share = row.cases_within / row.cases
        return {kind: values.pop("name"), **values, "share_within": share, "within": row.within(self.band)}


def accuracy(cases: Iterable[RecordedCase], band: Band = DEFAULT_BAND) -> Accuracy:
    """The report over ``cases``. Known gaps count in its numbers like all others: hiding them would be a lie."""
    cases = tuple(cases)
    choices = _choices(cases)
    techniques, devices = (
        tuple(
            _row(name, [case for case in cases if of(case) == name], [one for one in choices if of(one) == name], band)
            for name in sorted({of(case) for case in cases})
        )
        for of in (attrgetter("technique"), attrgetter("device"))
    )
    overall = _row("all", cases, choices, band) if cases else None
    return Accuracy(cases, choices, techniques, devices if len(devices) > 1 else (), overall, band)


def _row(name: str, cases: Sequence[RecordedCase], choices: Sequence[Choice], band: Band) -> ErrorSummary:
    errors = [case.comparison.total_error for case in cases]
    worst = max(range(len(errors)), key=lambda i: abs(errors[i]))
    hidden = [error for case in cases if (error := case.comparison.hidden_error) is not None]
    return ErrorSummary(
        name=name,
        cases=len(cases),
        cases_within=sum(abs(error) <= band.worst for error in errors),
        mean_abs=statistics.fmean(abs(error) for error in errors),
        worst=errors[worst],
        worst_case=cases[worst].label,
        hidden_mean_abs=statistics.fmean(abs(error) for error in hidden) if hidden else None,
        hidden_worst=max(hidden, key=abs) if hidden else None,
        choices=len(choices),
        choices_right=sum(choice.right(band) for choice in choices),
        known_gaps=sum(bool(case.comparison.gap) for case in cases),
    )


def _choices(cases: Iterable[RecordedCase]) -> tuple[Choice, ...]:
    groups: dict[str, list[RecordedCase]] = defaultdict(list)
    for case in cases:
        if case.rings:
            groups[json.dumps([case.technique, case.device, case.rest], sort_keys=True)].append(case)
    return tuple(_choice(group) for group in groups.values() if len(group) > 1)


def _choice(group: Sequence[RecordedCase]) -> Choice:
    def measured(case: RecordedCase) -> float:
        return case.comparison.measured.total_s

    def predicted(case: RecordedCase) -> tuple[float, int, tuple[int, ...]]:
        # Equal up to rounding is a tie, and of equally fast counts one takes the smallest.
        counts = tuple(case.stages.values())
        return float(f"{case.comparison.predicted.total_s:.9g}"), sum(counts), counts

    chosen = min(group, key=predicted)
    fastest = min(group, key=measured)
    loss = measured(chosen) / measured(fastest) - 1.0
    return Choice(chosen.technique, chosen.device, chosen.rest, chosen.stages, fastest.stages, loss)
