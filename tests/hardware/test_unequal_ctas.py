"""Grids whose CTAs have unequal numbers of tiles, more of them than run at a time."""

from __future__ import annotations

import random

import pytest

from gpusim.errors import GpusimError
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


def test_of_many_side_by_side_few_sms_stand_for_all():
    """Those that end last are among them, so that the total is about that of every SM."""
    draw = random.Random(3)
    tiles = tuple(draw.randint(10, 60) for _ in range(200))
    program = padded(tma_ring(4, tiles=tiles, grid=200, ffma=400), 2)
    profile = load_profile("h200_sxm")
    few, all_of_them = simulate_kernel(program, profile), simulate_kernel(program, profile, exact=True)
    assert len(few.meta["sm_classes"]) == 24 < len(all_of_them.meta["sm_classes"])
    assert few.meta["total_s"] == pytest.approx(all_of_them.meta["total_s"], rel=0.01)


def test_ctas_that_hardly_differ_are_counted_as_equal():
    """Of 13 200 CTAs half have 1001 tiles: it takes about as long as with 1000 each."""
    profile = load_profile("h200_sxm")
    program = padded(tma_ring(2, tiles=(1001,) * 6600 + (1000,) * 6600, grid=13_200), 1)
    some, fewer = (
        simulate_kernel(each, profile, trace=False) for each in (program, program.resized(tiles_per_cta=1000))
    )
    assert some.total_s == pytest.approx(fewer.total_s, rel=1e-3)
    assert some.meta["bytes_read"] > fewer.meta["bytes_read"]


@pytest.mark.parametrize("tiles", [2_000_000, tuple(200_000 - n for n in range(131)) + (1,) * 400])
def test_too_many_tiles_to_be_simulated_are_refused(tiles):
    """At once, with the bound and what to change."""
    program = padded(tma_ring(2, tiles=tiles, grid=531), 1)
    with pytest.raises(GpusimError, match=r"at most 1,000,000 are; .*without --exact"):
        simulate_kernel(program, load_profile("h200_sxm"), exact=True, trace=False)


@pytest.mark.parametrize("tiles", [(600,) + (300,) * 131, (300, 600) * 66], ids=["one is longer", "half are"])
def test_tiles_that_are_left_out_are_those_of_all(tiles):
    """Side by side the longer CTAs are alone at last, and quicker: that pace is not the one of what is left out."""
    program, profile = tma_ring(4, tiles=tiles, grid=132, ffma=16), load_profile("h200_sxm")
    folded, exact = (simulate_kernel(program, profile, exact=exact, trace=False) for exact in (False, True))
    assert folded.meta["extrapolated_s"] > 0
    assert folded.total_s == pytest.approx(exact.total_s, rel=0.01)
