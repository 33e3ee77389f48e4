"""Grids whose CTAs have unequal numbers of tiles, more of them than run at a time."""

from __future__ import annotations

import random

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from tests.tile_programs import padded, tma_ring

RNG = random.Random(7)
LISTS = {
    "all lengths": [RNG.randint(0, 30) for _ in range(500)],
    "mostly short": [int(61 * RNG.random() ** 4) for _ in range(400)],
}


@pytest.mark.parametrize("name", LISTS)
def test_a_few_sms_stand_for_all(name):
    """The total is that of a simulation of every SM, although a tenth of them is simulated."""
    program = padded(tma_ring(4, tiles=tuple(LISTS[name]), grid=len(LISTS[name]), ffma=400), 1)
    profile = load_profile("h200_sxm")
    few, all_of_them = simulate_kernel(program, profile), simulate_kernel(program, profile, exact=True)
    assert few.meta["occupancy"]["resident"] == 1
    assert few.meta["total_s"] == pytest.approx(all_of_them.meta["total_s"], rel=0.01)
    assert len(few.meta["sm_classes"]) == 12 < len(all_of_them.meta["sm_classes"])


@pytest.mark.parametrize("tiles", [132, 528, 819, 1056])
def test_ctas_without_a_tile_take_their_time_too(tiles):
    """Half of 1056 CTAs with nothing to do are not all one SM's: as quick as if all had a tile, or quicker."""
    profile = load_profile("h200_sxm")
    lists = [1] * tiles + [0] * (1056 - tiles)
    some, all_of_them = (
        simulate_kernel(tma_ring(1, tiles=each, grid=1056), profile, trace=False).meta["total_s"]
        for each in (tuple(lists), 1)
    )
    assert 0.4 * all_of_them < some <= 1.02 * all_of_them
