"""The model against every recording of the tile kernels on the H200.

No recording is left out. On failure the tables of all that was compared are printed.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import with_time_stamps
from gpusim.timeline import TimelineBuilder
from gpusim.timeline.metrics import summary
from gpusim.validation import RecordedCase, accuracy, compare_timelines, steps_told
from gpusim.validation.recording import TIMELINES, TOTALS, Totals, list_timelines, load_timeline
from tests.recorded.predictions import DEVICE, Point, points, worst_first
from tests.tile_programs import TECHNIQUES, technique

# The present bands, to be tightened as the model gets better; those aimed at are in gpusim.validation.band.
MEAN = 0.04
WORST = 0.22
"""0.21 until copies off a line lost bandwidth only where many are under way: `tma_warp_specialized` came nearer as a
whole, 2.8 KiB by 16 warps, too fast before, went from 20 to 21 %."""
WELL_CHOSEN = 0.75
"""Share of the choices of a stage count that must be right; docs/accuracy.md lists all of them. 0.8 until loads were
late by where the bench `walk` says: for `cp_async_multistage` a fourth choice of 16 was lost (six stages, where the
device has eight 2.8 % faster: one CTA per SM of 3.25 KiB is taken to fill HBM one stage too early)."""
PERIOD_MEAN = 0.08
HIDDEN_MEAN = {"sync_tile": 0.07, "tma_warp_specialized": 0.06, "cp_async_multistage": 0.07}
"""Copies of cp.async that start off a line are served unevenly where HBM is full (`alignment`: the quickest CTA takes
0.6 of the time of the slowest), and two SMs are looked at. That of sync_tile was 0.06 until loads of several CTAs went
side by side, with which that of cp_async_multistage, 0.095 before, came down, and 0.065 while the SMs that are looked
at wrote each stamp by a store of its own, which had held up what they computed."""
HIDDEN_WORST = 0.285
"""Two CTAs of one stage each, which drift as in a random walk on the device and towards taking turns here
(docs/model/limits.md); cp.async off a sector on SMs that are served more than their share (0.258 in a kernel that takes
27 % longer with its time stamps, 0.283 since loads need not wait for the last copies ahead of them)."""


def case(name: str, point: Point) -> RecordedCase:
    """A point as the accuracy report takes it."""
    sides = (TimelineBuilder().build(total_s=total_s) for total_s in (point.predicted_s, point.measured_s))
    return RecordedCase(name, DEVICE, dict(point.params), compare_timelines(*sides), rings=("stages",))


def table(title: str, rows: list[Any]) -> str:
    """Rows under a title, one a line."""
    return "\n".join([title, *(f"  {row}" for row in rows)])


@pytest.mark.parametrize("name", TECHNIQUES)
def test_total_time_is_within_the_bands(name):
    """Mean absolute error, and the worst row."""
    rows = points(name)
    mean = statistics.fmean(abs(point.error) for point in rows)
    worst = worst_first(rows)
    assert mean <= MEAN, table(f"{name}: mean absolute error {mean:.2%} over {len(rows)} rows; worst:", worst[:10])
    outside = [point for point in worst if abs(point.error) > WORST]
    assert not outside, table(f"{name}: {len(outside)} rows are off by more than {WORST:.0%}", outside)


@pytest.mark.parametrize("name", [name for name in TECHNIQUES if name != "sync_tile"])
def test_best_stage_count_is_found(name):
    """What the model would choose is the fastest on the device, or within 2 % of it."""
    choices = accuracy(case(name, point) for point in points(name)).choices
    wrong = [choice for choice in choices if not choice.right()]
    right = 1.0 - len(wrong) / len(choices)
    assert right >= WELL_CHOSEN, table(f"{name}: well chosen in {right:.0%} of {len(choices)} groups; not in", wrong)


@dataclass(frozen=True)
class Inside:
    """Metrics from within a kernel, predicted and measured.

    ``period``: seconds per tile in the steady state, measured with time stamps that slow the kernel down by
    ``overhead``, which is taken off. The hidden fraction cannot be corrected so: it is predicted with stamps, too.
    """

    name: str
    period: tuple[float, float]
    hidden: tuple[float, float]
    overhead: float

    @property
    def period_error(self) -> float:
        """Relative."""
        return self.period[0] / self.period[1] - 1.0

    @property
    def hidden_error(self) -> float:
        """A difference."""
        return self.hidden[0] - self.hidden[1]

    def __str__(self) -> str:
        period = " / ".join(f"{value * 1e9:.0f}" for value in self.period)
        return (
            f"per tile {period:>15} ns ({self.period_error:+6.1%})   "
            f"hidden {self.hidden[0]:.2f} / {self.hidden[1]:.2f} ({self.hidden_error:+.2f})   "
            f"overhead {self.overhead:4.0%}   {self.name}"
        )


def insides(technique_name: str) -> list[Inside]:
    """Every recorded timeline of a technique beside its prediction."""
    kernel = technique(technique_name)
    path = kernel.folder / "recorded" / DEVICE / TIMELINES
    found = []
    for name, meta in list_timelines(path).items():
        program = kernel.build(kernel.make_params(dict(meta["params"])))
        measured = load_timeline(path, name)
        stamped = with_time_stamps(program, steps_told(measured))
        ours, seen, theirs = (
            summary(timeline)
            for timeline in (*(simulate_kernel(each, load_profile(DEVICE)) for each in (program, stamped)), measured)
        )
        pairs = [(side[metric], theirs[metric]) for side, metric in ((ours, "period_s"), (seen, "hidden_fraction"))]
        found.append(Inside(name, *pairs, meta["overhead"]))
    return found


@pytest.mark.parametrize("name", TECHNIQUES)
def test_inside_of_the_kernel_agrees(name):
    """Time per tile in the steady state and hidden fraction of copy time."""
    rows = insides(name)
    assert rows
    title = f"{name}: predicted / measured"
    period = statistics.fmean(abs(row.period_error) for row in rows)
    assert period <= PERIOD_MEAN, table(f"{title}: mean error of the time per tile {period:.1%}", rows)
    hidden = [abs(row.hidden_error) for row in rows]
    assert statistics.fmean(hidden) <= HIDDEN_MEAN[name], table(title, rows)
    assert max(hidden) <= HIDDEN_WORST, table(title, rows)


def test_every_recorded_timeline_has_its_total():
    """Each instrumented point was also timed without instruments."""
    for name in TECHNIQUES:
        folder = technique(name).folder / "recorded" / DEVICE
        totals = Totals.load(folder / TOTALS)
        for meta in list_timelines(folder / TIMELINES).values():
            assert totals.find(meta["params"]) is not None, meta["params"]
