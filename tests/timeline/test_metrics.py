"""Metrics on timelines small enough to check by hand."""

import math

import numpy as np
import pytest

from gpusim.timeline import KINDS, Timeline, TimelineBuilder
from gpusim.timeline.metrics import (
    achieved_bandwidth,
    busy_by_lane,
    exposed_copy_s,
    hidden_fraction,
    period_s,
    summary,
    wait_by_reason,
)

US = 1e-6


def pipeline(tiles: int = 8, copy: float = 1.0, compute: float = 2.0, overlap: bool = True) -> Timeline:
    """A copy and a compute per tile, µs; overlapped as two buffers do, or one after the other."""
    builder = TimelineBuilder()
    step = max(copy, compute) if overlap else copy + compute
    for tile in range(tiles):
        start = tile * step
        ready = copy + start
        builder.add("sm[0].cta[0].input[0]", "copy", start * US, ready * US, tile=tile, stage=tile % 2, bytes=64)
        builder.add("sm[0].cta[0].consumer", "compute", ready * US, (ready + compute) * US, tile=tile)
    total = tiles * step + (copy if overlap else 0)
    return builder.build(source="predicted", device="d", total_s=total * US, bytes_read=64 * tiles, flop=128)


def test_nothing_is_hidden_without_overlap():
    """Copy and compute take turns."""
    assert hidden_fraction(pipeline(overlap=False)) == pytest.approx(0.0, abs=1e-12)


def test_all_but_the_first_copy_is_hidden_behind_a_longer_compute():
    """Eight copies of 1 µs; each but the first lies inside a compute of 2 µs."""
    timeline = pipeline()
    assert hidden_fraction(timeline) == pytest.approx(7 / 8)
    assert exposed_copy_s(timeline) == pytest.approx(1 * US)


def test_copies_that_overlap_each_other_count_once():
    """Copy busy is a union: two copies at the same time are one stretch of copying."""
    builder = TimelineBuilder()
    builder.add("sm[0].cta[0].input[0]", "copy", 0, 2 * US)
    builder.add("sm[0].cta[0].input[1]", "copy", 1 * US, 4 * US)
    builder.add("sm[0].cta[0].consumer", "compute", 2 * US, 4 * US)
    assert hidden_fraction(builder.build()) == pytest.approx(0.5)


def test_without_copies_nothing_is_known_of_them():
    """A recording that could not see its loads does not say that none of them was exposed."""
    builder = TimelineBuilder()
    builder.add("sm[0].cta[0].worker", "compute", 2 * US, 4 * US)
    values = summary(builder.build())
    assert values["hidden_fraction"] is None
    assert values["exposed_s"] is None


def test_arithmetic_on_another_sm_hides_nothing():
    """Overlap is taken per SM."""
    builder = TimelineBuilder()
    builder.add("sm[0].cta[0].input[0]", "copy", 0, 2 * US)
    builder.add("sm[1].cta[0].consumer", "compute", 0, 2 * US)
    assert hidden_fraction(builder.build()) == 0.0


def test_hidden_fraction_without_copies_is_not_a_number():
    """Nothing to hide is not the same as nothing hidden."""
    assert math.isnan(hidden_fraction(TimelineBuilder().build()))


def test_period_is_the_steady_spacing():
    """Filling and draining do not show."""
    assert period_s(pipeline(tiles=40)) == pytest.approx(2 * US)
    assert math.isnan(period_s(pipeline(tiles=2)))


def test_period_takes_the_end_of_a_tile_in_parts():
    """A tile computed in two parts ends with the second."""
    builder = TimelineBuilder()
    for tile in range(10):
        builder.add("sm[0].cta[0].c", "compute", 3 * tile * US, (3 * tile + 1) * US, tile=tile)
        builder.add("sm[0].cta[0].c", "compute", (3 * tile + 1) * US, (3 * tile + 2) * US, tile=tile)
    assert period_s(builder.build()) == pytest.approx(3 * US)


def test_busy_is_time_over_total():
    """Two µs of compute every two µs, after one µs of filling."""
    assert busy_by_lane(pipeline())["sm[0].cta[0].consumer"]["compute"] == pytest.approx(16 / 17)


def test_waiting_is_summed_by_reason():
    """Barriers are waiting too."""
    builder = TimelineBuilder()
    builder.add("a", "wait", 0, 2 * US, reason="stage_empty")
    builder.add("b", "wait", 0, 1 * US, reason="stage_empty")
    builder.add("b", "barrier", 1 * US, 4 * US)
    assert wait_by_reason(builder.build()) == pytest.approx({"stage_empty": 3 * US, "barrier": 3 * US})


def test_bandwidth_is_bytes_over_total():
    """Of the un-instrumented total, which is what meta carries."""
    assert achieved_bandwidth(pipeline()) == pytest.approx(512 / 17e-6)


def test_summary_has_no_nan():
    """JSON has none either."""
    assert summary(TimelineBuilder().build())["hidden_fraction"] is None
    assert summary(pipeline(tiles=40))["period_s"] == pytest.approx(2 * US)


def test_metrics_do_not_look_at_the_source():
    """The same intervals called measured give the same numbers."""
    timeline = pipeline()
    assert summary(timeline) == summary(timeline.with_meta(source="measured"))


@pytest.mark.parametrize("seed", range(5))
def test_union_agrees_with_counting_on_a_grid(seed):
    """Random intervals on whole µs, against the obvious slow way."""
    random = np.random.default_rng(seed)
    builder = TimelineBuilder()
    busy = {kind: np.zeros((3, 60), dtype=bool) for kind in ("copy", "compute")}
    for number in range(40):
        kind, sm = random.choice(["copy", "compute"]), int(random.integers(3))
        start, length = int(random.integers(50)), int(random.integers(1, 9))
        builder.add(f"sm[{sm}].cta[{number}].x", str(kind), start * US, (start + length) * US)
        busy[str(kind)][sm, start : start + length] = True
    expected = (busy["copy"] & busy["compute"]).sum() / busy["copy"].sum()
    assert hidden_fraction(builder.build()) == pytest.approx(expected, abs=1e-9)


def test_metrics_of_a_million_intervals(benchmark):
    """Speed is recorded, never asserted; the result is."""
    count = 1_000_000
    start = np.arange(count) * 1e-9
    lanes = tuple(f"sm[{i}].cta[0].c" for i in range(132))
    zeros = np.zeros(count, dtype=np.int64)
    lane = np.sort(np.arange(count) % 132).astype(np.int32)
    kind = np.where(np.arange(count) % 2, KINDS.index("copy"), KINDS.index("compute")).astype(np.int16)
    timeline = Timeline(lanes, lane, kind, start, start + 2e-9, zeros, zeros, zeros, zeros, zeros - 1)
    assert benchmark(hidden_fraction, timeline) == pytest.approx(1.0, abs=1e-3)
