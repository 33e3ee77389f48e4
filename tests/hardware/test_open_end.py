"""A run that is told its end while it runs, against the run of everything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Load, Mix, Role
from tests.tile_programs import kernel, sync_loop, tma_ring

TILES = 300
"""Four times as many as show a steady state at the earliest."""


def loop(ffma, tiles=TILES):
    """Loads 4 KiB and computes ``ffma(tile, tiles)`` instructions, tile by tile."""

    def body(count):
        for tile in range(count):
            yield Load(4096, width=16, l2_hit=1.0, tile=tile)
            yield Compute(Mix(ffma=ffma(tile, count), ilp=4.0), tile=tile)

    return kernel(Role("all", 8, body), tiles=tiles, grid=132)


def both(program):
    """Predicted as usual, and with every tile simulated."""
    profile = load_profile("h200_sxm")
    return simulate_kernel(program, profile), simulate_kernel(program, profile, exact=True)


@pytest.mark.parametrize(
    "program",
    [loop(lambda _tile, _tiles: 256.0), sync_loop(tiles=TILES, grid=132), tma_ring(3, tiles=TILES, grid=132, ffma=40)],
    ids=["loop", "sync loop", "bulk copies"],
)
def test_a_steady_loop_ends_early(program):
    """Most tiles are left out, and the total is that of all of them."""
    folded, exact = both(program)
    assert folded.meta["extrapolated_s"] > folded.meta["total_s"] / 2.0
    assert folded.meta["total_s"] == pytest.approx(exact.meta["total_s"], rel=1e-3)
    assert set(folded.tile) == set(exact.tile)


@pytest.mark.parametrize(
    "ffma",
    [lambda tile, _tiles: 64.0 * (tile + 1), lambda _tile, tiles: 8.0 * tiles],
    ids=["each tile takes longer", "what a tile does depends on how many there are"],
)
def test_what_cannot_be_left_out_is_simulated(ffma):
    """The total is that of all tiles to the last digit, although no tile was simulated twice."""
    folded, exact = both(loop(ffma))
    assert folded.meta["extrapolated_s"] == 0.0
    assert folded.meta["total_s"] == exact.meta["total_s"]


def test_a_turn_too_long_to_be_listed():
    """Ops that come every 400 tiles make the shortest run one of 1200 tiles."""
    program = loop(lambda tile, _tiles: 4000.0 if tile % 400 == 399 else 40.0, tiles=2400)
    folded, exact = both(replace(program, turn=400))
    assert folded.meta["total_s"] == pytest.approx(exact.meta["total_s"], rel=1e-3)
