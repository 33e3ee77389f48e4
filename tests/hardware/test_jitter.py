"""How late loads are by chance."""

from __future__ import annotations

import math
from statistics import pstdev

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.jitter import LEAST_TURN, MOST_SHIFTS, of_loads, of_place, of_start
from gpusim.program import Load, Role
from tests.tile_programs import kernel, textbook, tma_ring

TURNS = [LEAST_TURN, 9, 12, 24]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("age", [0, 1, 17])
def test_cancels_over_a_turn(age, turn):
    """Amounts are spread evenly over -1 to 1, so that a turn takes as long as without them."""
    amounts = of_loads(age, turn)
    assert len(amounts) == turn
    assert sorted(amounts) == pytest.approx([(2 * n + 1) / turn - 1 for n in range(turn)])
    assert math.fsum(amounts) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("ctas", [8, 64])
def test_first_tiles_are_spread_evenly(ctas):
    """CTAs of one tile each have no turn over which it could cancel: their mean is near 0 as well."""
    first = [of_loads(age, LEAST_TURN)[0] for age in range(ctas)]
    assert abs(np.mean(first)) <= 1.0 / LEAST_TURN
    assert pstdev(first) == pytest.approx(1 / math.sqrt(3), rel=0.15)


def test_starts_are_spread_evenly_and_have_nothing_to_do_with_loads():
    """Neither mean nor correlation."""
    starts, first = ([of(age) for age in range(64)] for of in (of_start, lambda age: of_loads(age, LEAST_TURN)[0]))
    assert abs(np.mean(starts)) < 0.05
    assert abs(np.corrcoef(starts, first)[0, 1]) < 0.2


def test_ctas_have_their_own_order():
    """Else CTAs that share an SM would stay as far apart as they began."""
    assert len({of_loads(age, LEAST_TURN) for age in range(100)}) > 90


@pytest.mark.parametrize("turn", TURNS)
def test_loads_of_one_tile_have_their_own(turn):
    """The first the tile's, the others amounts that have nothing to do with it; over a turn each cancels."""
    lates = of_loads(3, turn)
    by_place = [[of_place(lates, tile, place) for tile in range(turn)] for place in range(4)]
    assert by_place[0] == list(lates)
    for other in by_place[1:]:
        assert sorted(other) == sorted(lates)
        assert other != by_place[0]


def test_copies_arrive_with_the_spread_of_the_profile():
    """The standard deviation of a copy's time in a ring that nothing else delays: between that of one line and many."""
    h200 = load_profile("h200_sxm")
    timeline = simulate_kernel(tma_ring(1, tiles=64, grid=1, ffma=256), h200, exact=True)
    copies = timeline.mask(kinds=("copy",))
    took = (timeline.end_s - timeline.start_s)[copies]
    one, many = (h200.seconds_of(f"dram.latency_jitter{key}") for key in ("", "_many_lines"))
    assert one < np.std(took) < many


@pytest.mark.parametrize(("l2_hit", "spread_s"), [(0.0, 100e-9), (1.0, 0.0)])
def test_hits_in_l2_have_none(l2_hit, spread_s):
    """Jitter is that of DRAM."""
    program = kernel(
        Role("worker", 1, lambda tiles: (Load(512, tile=t, l2_hit=l2_hit) for t in range(tiles))), tiles=20
    )
    timeline = simulate_kernel(program, load_profile("h200_sxm"), exact=True)
    loads = timeline.mask(kinds=("copy", "load"))
    took = (timeline.end_s - timeline.start_s)[loads]
    assert took.max() - took.min() >= spread_s
    assert (took.max() - took.min() < 1e-9) == (l2_hit == 1.0)


def test_round_costs_stay_round():
    """The textbook profile has no jitter."""
    timeline = simulate_kernel(tma_ring(1, tiles=20, grid=1), textbook(), exact=True)
    copies = timeline.mask(kinds=("copy",))
    took = (timeline.end_s - timeline.start_s)[copies]
    assert took.max() == pytest.approx(took.min())


def test_turns_of_a_thousand_tiles_have_as_many_places_as_are_looked_for():
    """Their distances are chosen from so many, all different; a place more begins anew."""
    lates = of_loads(0, 1000)
    by_place = [tuple(of_place(lates, tile, place) for tile in range(0, 1000, 50)) for place in range(MOST_SHIFTS + 1)]
    assert len(set(by_place)) == MOST_SHIFTS
    assert by_place[MOST_SHIFTS] == by_place[0]
