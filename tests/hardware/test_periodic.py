"""A periodic loop that was not simulated to its end, against the run that was."""

from __future__ import annotations

import functools
import re
from itertools import pairwise

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.folding.shape import stride_of
from gpusim.hardware.folding.steady import steady_state
from gpusim.program import Ring
from gpusim.timeline import REASONS
from gpusim.timeline.metrics import hidden_fraction, period_s
from tests.tile_programs import cp_async_ring, kernel, padded, sync_loop, technique, textbook, tma_ring, warp_lanes

AGREEMENT = 1e-3
"""Folded and exact total time differ by no more."""
SELDOM_REPEATS = {"sync loop": 5e-3}
"""Three CTAs that wait for nothing but each other come in an order that repeats only after 200 tiles, all there are:
turns of a few tiles differ by 3 % in between, and the mean of those that were simulated stands for the rest."""


def real(name, **params):
    """A real technique's program on the measured device."""
    found = technique(name)
    return found.build(found.make_params(params)), load_profile("h200_sxm")


def _cases():
    book, h200 = textbook(), load_profile("h200_sxm")
    slow = textbook(hbm__read_bandwidth="2 TB/s", tma__l2_latency="300 cycles", lsu__cp_async_l2_latency="300 cycles")
    yield "tma serial", tma_ring(1, tiles=300), book
    yield "tma double buffer", tma_ring(2, tiles=300), book
    yield "tma five stages", tma_ring(5, tiles=301, ffma=100), book
    yield "tma latency bound", tma_ring(2, tiles=200, grid=132), slow
    yield "tma bandwidth bound", padded(tma_ring(4, tiles=200, grid=264, ffma=16), 2), slow
    yield "tma many waves", padded(tma_ring(3, tiles=8, grid=132 * 40), 2), book
    yield "tma waves and tiles", padded(tma_ring(3, tiles=120, grid=132 * 20 + 40), 2), h200
    yield "cp.async three stages", padded(cp_async_ring(3, tiles=300, grid=264, warps=5), 2), h200
    yield "cp.async many waves", padded(cp_async_ring(2, tiles=6, grid=132 * 30), 3), slow
    yield "sync loop", padded(sync_loop(tiles=200, grid=396), 3), h200
    yield (
        "fewer turns missing than repeat at once",
        *real("sync_tile", tile_bytes=32768, fma_per_element=0, warps=16, ctas_per_sm=1, grid=128, tiles_per_cta=109),
    )
    common = {"fma_per_element": 16, "tiles_per_cta": 250}
    yield "sync_tile", *real("sync_tile", warps=8, ctas_per_sm=2, grid=264, **common)
    yield "sync_tile one CTA", *real("sync_tile", warps=4, ctas_per_sm=1, grid=132, tile_bytes=8192, **common)
    yield "cp_async", *real("cp_async_multistage", stages=3, warps=8, ctas_per_sm=2, grid=264, **common)
    yield (
        "cp_async light",
        *real("cp_async_multistage", stages=4, warps=4, ctas_per_sm=1, grid=132, fma_per_element=2, tiles_per_cta=250),
    )
    yield "tma", *real("tma_warp_specialized", stages=3, consumer_warps=4, ctas_per_sm=2, grid=264, **common)
    yield (
        "tma uneven",
        *real("tma_warp_specialized", stages=2, consumer_warps=5, ctas_per_sm=1, grid=132, tile_bytes=11584, **common),
    )
    yield "tma one CTA after the other", *real(
        "tma_warp_specialized", stages=4, consumer_warps=16, ctas_per_sm=2, grid=264, tile_bytes=8192,
        fma_per_element=128, tiles_per_cta=250,
    )  # fmt: skip
    yield (
        "tma waves",
        *real("tma_warp_specialized", stages=4, consumer_warps=8, ctas_per_sm=2, grid=132 * 14 + 5, tiles_per_cta=30),
    )
    yield (
        "waves of long CTAs",
        *real("tma_warp_specialized", stages=2, consumer_warps=4, ctas_per_sm=1, grid=132 * 16, tiles_per_cta=64),
    )


CASES = {name: (program, profile) for name, program, profile in _cases()}
each_case = pytest.mark.parametrize("name", CASES)


@functools.cache
def both(name):
    """Folded and exact timeline of a case, computed once."""
    program, profile = CASES[name]
    return simulate_kernel(program, profile), simulate_kernel(program, profile, exact=True)


@each_case
def test_folded_agrees_with_exact(name):
    """Total time within 0.1 %, where turns repeat."""
    folded, exact = both(name)
    assert folded.total_s == pytest.approx(exact.total_s, rel=SELDOM_REPEATS.get(name, AGREEMENT))


@each_case
def test_metrics_survive_the_folding(name):
    """Median period within 6 % (one turn stands for turns that vary), hidden fraction within the claimed 0.05."""
    folded, exact = both(name)
    if not folded.meta.get("elided"):
        assert period_s(folded) == pytest.approx(period_s(exact), rel=0.06, nan_ok=True)
        assert hidden_fraction(folded) == pytest.approx(hidden_fraction(exact), abs=0.05)


@each_case
@pytest.mark.parametrize("kind", ["folded", "exact"])
def test_lanes_of_warps_are_tiled(name, kind):
    """One interval after another: no gap, no overlap; together they last as long as their lane.

    Exactly where every tile was simulated; within 4 % of the time where several turns, whose end does not quite
    fit their beginning, stand for all: CTAs whose copies pass side by side are never quite as far apart as before.
    """
    timeline = both(name)[kind == "exact"]
    if timeline.meta.get("elided"):
        pytest.skip("its middle is left out on purpose")
    found = warp_lanes(timeline)
    assert found
    for lane, rows in found.items():
        start, end = timeline.start_s[rows], timeline.end_s[rows]
        off = np.abs(start[1:] - end[:-1])
        # Between two CTAs of a slot the lane is idle: the launch on the CTA's own lane says why.
        slot = lane[: lane.index("]", lane.index(".cta[")) + 1]
        launches = timeline.start_s[timeline.mask(lanes=f"^{re.escape(slot)}$", kinds=("launch",))]
        first = np.searchsorted(launches, end[:-1] - 1e-12)
        off = off[first == np.searchsorted(launches, start[1:] + 1e-12)]
        allowed = 1e-12 if kind == "exact" else 4e-2 * (end[-1] - start[0])
        assert off.sum() <= allowed, lane


@each_case
def test_tile_numbers_are_continuous(name):
    """Every CTA computes tile 0, 1, 2 … to the last, in order, in every lane that computes tiles.

    CTAs of an SM that are not in step may miss or repeat a tile where the turns that stand for all are joined.
    """
    folded, exact = both(name)
    if folded.meta.get("elided"):
        pytest.skip("its middle is left out on purpose")
    program, _ = CASES[name]
    expected = set(range(program.tiles_per_cta))
    for timeline in (folded, exact):
        computed = timeline.mask(kinds=("compute",)) & (timeline.tile >= 0)
        for lane, rows in warp_lanes(timeline).items():
            tiles = timeline.tile[rows[computed[rows]]]
            if len(tiles):
                # One per join, and a join every 20 tiles or more.
                joined = 0 if timeline is exact else program.tiles_per_cta / 20
                assert len(expected.symmetric_difference(tiles.tolist())) <= joined, lane
                steps = np.diff(tiles)
                # A new CTA begins again at 0.
                odd = ~np.isin(steps, [0, 1, 1 - program.tiles_per_cta])
                assert odd.sum() <= joined * (1 + (steps < 0).sum()), lane


@each_case
@pytest.mark.parametrize("kind", ["folded", "exact"])
def test_causes_lie_in_the_past(name, kind):
    """What released a wait ended no later than the wait did, and began before it ended."""
    timeline = both(name)[kind == "exact"]
    known = np.flatnonzero(timeline.cause >= 0)
    assert timeline.cause.max(initial=-1) < len(timeline)
    cause = timeline.cause[known]
    late = timeline.end_s[cause] - timeline.end_s[known]
    slack = 1e-12 if kind == "exact" else 5e-3 * timeline.total_s
    wrong = np.flatnonzero(late > slack)
    assert not len(wrong), [(timeline[known[i]], timeline[cause[i]]) for i in wrong[:2]]
    assert (timeline.start_s[cause] <= timeline.end_s[known] + slack).all()


@each_case
def test_folding_keeps_most_waits_explained(name):
    """Waits with a cause: no smaller a share than 90 % of the exact run's."""

    def share(timeline):
        waits = timeline.mask(kinds=("wait",)) & (timeline.reason != REASONS.index("copy_in_flight"))
        return (timeline.cause[waits] >= 0).mean() if waits.any() else 1.0

    folded, exact = both(name)
    assert share(folded) >= 0.9 * share(exact)


def test_without_trace_the_total_is_the_same():
    """Intervals are a report, not part of the model."""
    program, profile = CASES["tma"]
    bare = simulate_kernel(program, profile, trace=False)
    assert bare.total_s == both("tma")[0].total_s
    assert len(bare) == 0


def test_long_loop_is_not_simulated():
    """A hundred thousand tiles differ from ten thousand by nine times as much as ten thousand from nothing."""
    short, long = (simulate_kernel(tma_ring(2, tiles=n), textbook(), trace=False) for n in (10_000, 100_000))
    assert long.total_s - short.total_s == pytest.approx(90_000 * 128e-9)
    assert long.meta["extrapolated_s"] > 0.99 * long.total_s


def test_a_million_intervals_are_not_put_out():
    """The middle of so long a timeline stays empty and the timeline says so."""
    timeline = simulate_kernel(tma_ring(2, tiles=1_000_000), textbook())
    assert timeline.meta.get("elided")
    assert len(timeline) < 10_000
    assert timeline.tile.max() == 999_999


class TestSteadyState:
    """The period of a sequence of completion times."""

    def test_straight_line_has_its_slope(self):
        """With t = 3 n, the last two steps disturbed."""
        done = [3.0 * n for n in range(38)] + [500.0, 900.0]
        period, seen = steady_state(done, stride=2, drain=2, agreement=1e-6)
        assert period == pytest.approx(3)
        assert seen == 12

    def test_turns_of_a_ring_are_averaged(self):
        """Steps of 1 and 5 in turn: 3 per step over whole turns."""
        done = np.cumsum([1.0, 5.0] * 20).tolist()
        period, _ = steady_state(done, stride=2, drain=2, agreement=1e-6)
        assert period == pytest.approx(3)

    def test_changing_pace_is_not_steady(self):
        """Quadratic growth."""
        assert steady_state([float(n * n) for n in range(60)], 1, 2, 1e-2) is None

    @pytest.mark.parametrize("count", [0, 1, 4])
    def test_too_few_steps_are_not_steady(self, count):
        """Nothing can be said."""
        assert steady_state([float(n) for n in range(count)], 2, 2, 1e-2) is None


def test_stride_is_a_common_turn_of_all_rings():
    """Rings of 2 and 3 stages: twice 6 tiles, of the jitter's 8 at least; of 7 and 8: 56 would be too long."""
    assert stride_of(kernel(rings=(Ring("a", 2, 16), Ring("b", 3, 16)))) == 12
    assert stride_of(kernel(rings=(Ring("a", 7, 16), Ring("b", 8, 16)))) == 8
    assert stride_of(kernel(rings=(Ring("a", 3, 16),))) == 9
    assert stride_of(kernel()) == 8


def test_computing_ends_in_order():
    """Ends of computing of one lane rise strictly, over every seam."""
    folded, _ = both("tma five stages")
    computed = folded.mask(lanes=r"consumer$", kinds=("compute",))
    ends = folded.end_s[computed]
    assert all(after > before for before, after in pairwise(ends))
