"""Advice against the H200: the predicted gain of recordings that differ in one lever alone, and the measured one.

A case is a recorded configuration with everything recorded that does the same work with one lever pulled. Its advice
is made of predictions by the code that makes any advice; no recording is left out. On failure all cases are printed.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gpusim.scenario import techniques
from gpusim.scenario.kinds import Kind
from gpusim.scenario.lever_kinds import levers_of
from gpusim.scenario.levers.advice import WORTH_IT, Advice, Lever
from gpusim.scenario.technique import Technique
from gpusim.scenario.work import same_work, work_of
from gpusim.validation.recording import TotalRow
from tests.recorded.predictions import points, recorded

POINTS = 0.05
"""A gain is right when it is off by at most so much of the time before the change."""

# Where the model stands over all cases, to be tightened as it gets better. What is off has the causes that
# docs/model/limits.md names as known gaps: restart of short items (persistent), rings of one slot and Python threads
# (host_callback_pool, default_streams), CTAs of one SM that compute at the same time (sync_tile, register_prefetch).
# Most that should not have been left gained 2 to 5 %. A gain of minus 400 % is as hard to hit as one of 5 %: it counts.
RIGHT_GAIN = 0.80
"""Share of the cases whose gain is right; 85 % of 513 when this was written."""
RIGHT_LEAVE = 0.67
"""Share of the cases to be left in which the gain is right and no recorded lever gained more; 72 % of 290 then."""
GOOD_CHOICE = 0.80
"""Share of the cases in which following the advice ends within 2 % of the time of the best recorded; 84 % then."""


@dataclass(frozen=True)
class Case:
    """Advice for one recorded configuration. ``measured`` are the gains of its levers, in their order."""

    technique: str
    params: Mapping[str, Any]
    advice: Advice
    measured: Mapping[str, float]

    @property
    def top(self) -> Lever:
        """The change that is advised, or the best of those that are not worth it."""
        return self.advice.best or self.advice.levers[0]

    @property
    def leave(self) -> bool:
        """Whether the advice is to change nothing."""
        return self.advice.best is None

    @property
    def error(self) -> float:
        """Of the gain: predicted less measured."""
        return self.top.gain - self.measured[self.top.change]

    @property
    def right(self) -> bool:
        """The gain is right."""
        return abs(self.error) <= POINTS

    @property
    def rightly_left(self) -> bool:
        """Nothing that was recorded gained more than what is worth it."""
        return self.right and max(self.measured.values()) <= WORTH_IT

    @property
    def lost(self) -> float:
        """Of the time before the change: what the best recorded lever gains beyond the advice."""
        followed = 0.0 if self.leave else self.measured[self.top.change]
        return max(0.0, *self.measured.values()) - followed

    def __str__(self) -> str:
        words = " ".join(f"{name}={value}" for name, value in self.params.items())
        says = "leave it; " if self.leave else ""
        return (
            f"{self.error:+7.1%}  {self.technique}: {says}{self.top.change} gains {self.top.gain:+.1%} predicted, "
            f"{self.measured[self.top.change]:+.1%} measured, of {len(self.measured)}; {words}"
        )


def lever_between(
    technique: Technique, levers: Collection[str], own: Mapping[str, Any], other: Mapping[str, Any]
) -> str | None:
    """The one of ``levers`` that makes ``other`` of ``own``, besides what goes with it; None if it is not one."""
    changed = {name for name in own if own[name] != other[name]}
    pulled = [name for name in levers if name in changed and name != "grid"] or [*({"grid"} & changed)]
    if len(pulled) != 1:
        return None
    (name,), named = pulled, technique.named
    along = {*named(Kind.TURNS)}
    along |= {*named(Kind.GRID, Kind.RESIDENT)} if name in named(Kind.PER_SM) else set()
    along |= {*named(Kind.SHARE)} if name in named(Kind.BATCHES) else set()
    return name if changed - {name} <= along else None


def neighbours(name: str) -> Iterator[tuple[TotalRow, list[tuple[str, TotalRow]]]]:
    """Every recorded row of a technique that has some, with the lever to each and its row."""
    found = techniques()[name]
    rows = recorded(name)
    levers = levers_of({field.name: field for field in dataclasses.fields(found.params)})
    work = [work_of(found.build(found.make_params(dict(row.params)))) for row in rows]
    for own, mine in zip(rows, work, strict=True):
        pairs = [
            (lever, row) for row, theirs in zip(rows, work, strict=True)
            if (lever := lever_between(found, levers, own.params, row.params)) and same_work(mine, theirs)
        ]  # fmt: skip
        if pairs:
            yield own, pairs


@functools.cache
def cases() -> tuple[Case, ...]:
    """All cases."""
    found = []
    for name in techniques():
        groups = list(neighbours(name))
        predicted = {str(point.params): point.predicted_s for point in points(name)} if groups else {}
        found += [_case(name, own, pairs, predicted) for own, pairs in groups]
    return tuple(found)


def _case(name: str, own: TotalRow, pairs: list[tuple[str, TotalRow]], predicted: Mapping[str, float]) -> Case:
    total_s = predicted[str(own.params)]
    levers, measured = [], {}
    for lever, row in pairs:
        overrides = {key: value for key, value in row.params.items() if own.params[key] != value}
        change = ", ".join(f"{key} {own.params[key]} → {value}" for key, value in overrides.items())
        after_s = predicted[str(row.params)]
        levers.append(Lever(lever, change, after_s, 1.0 - after_s / total_s, overrides))
        measured[change] = 1.0 - row.total_s / own.total_s
    levers.sort(key=lambda one: -round(one.gain, 6))
    return Case(name, own.params, Advice(total_s, None, None, tuple(levers)), measured)


def shown(chosen: list[Case]) -> str:
    """How many are right by technique, then the cases that are not, the worst first."""
    lines = []
    for name in dict.fromkeys(case.technique for case in chosen):
        mine = [case for case in chosen if case.technique == name]
        lines.append(f"{sum(case.right for case in mine):4d} of {len(mine):4d} gains right: {name}")
    wrong = sorted((case for case in chosen if not case.right), key=lambda case: -abs(case.error))
    return "\n".join(["", *lines, *map(str, wrong)])


@pytest.mark.slow
def test_the_gain_of_the_top_lever_is_as_measured():
    """Within five points of the time, in the share of all cases that the model stands at."""
    found = cases()
    right = [case for case in found if case.right]
    assert len(right) >= 12, shown(list(found))
    assert len(right) / len(found) >= RIGHT_GAIN, shown(list(found))


@pytest.mark.slow
def test_what_is_left_was_right_to_be_left():
    """No recorded lever gained more than 2 %, predicted and measured."""
    left = [case for case in cases() if case.leave]
    rightly = [case for case in left if case.rightly_left]
    assert len(rightly) >= 2
    assert len(rightly) / len(left) >= RIGHT_LEAVE, shown(left)


@pytest.mark.slow
def test_following_the_advice_ends_near_the_best_that_was_recorded():
    """Whatever the numbers: at most 2 % of the time is left to gain."""
    found = cases()
    near = [case for case in found if case.lost <= WORTH_IT]
    far = sorted((case for case in found if case.lost > WORTH_IT), key=lambda case: -case.lost)
    assert len(near) / len(found) >= GOOD_CHOICE, "\n".join(f"{case.lost:6.1%} lost: {case}" for case in far)
