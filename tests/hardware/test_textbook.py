"""Patterns of overlap whose time a textbook gives in closed form: exactly, not nearly.

A copy takes L = bytes / 32 cycles, a tile's arithmetic C cycles, N tiles. The instructions that issue
cp.async or ld.global are I = bytes / (512 × warps) cycles: a warp moves 512 B with one of them.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from gpusim.hardware import simulate_kernel
from gpusim.timeline.metrics import exposed_copy_s, hidden_fraction, period_s
from realkernels import cp_async_multistage, sync_tile, tma_warp_specialized
from tests.tile_programs import NS, cp_async_ring, sync_loop, textbook, tma_ring, total_ns

TILES = 40
LOADS = (1024, 4096, 16384)
"""Tile bytes: L = 32, 128 and 512 cycles."""
ARITHMETIC = (16, 128, 700)


def costs(tile_bytes, warps=4):
    """L and I in cycles."""
    return tile_bytes / 32, tile_bytes / (512 * warps)


@pytest.mark.parametrize("ffma", ARITHMETIC)
@pytest.mark.parametrize("tile_bytes", LOADS)
class TestSerial:
    """One stage: nothing overlaps, N × (L + C)."""

    def test_tma(self, tile_bytes, ffma):
        """N (L + C)."""
        load, _ = costs(tile_bytes)
        assert total_ns(tma_ring(1, tile_bytes=tile_bytes, ffma=ffma)) == pytest.approx(TILES * (load + ffma))

    def test_cp_async(self, tile_bytes, ffma):
        """N (I + L + C)."""
        load, issue = costs(tile_bytes)
        expected = TILES * (issue + load + ffma)
        assert total_ns(cp_async_ring(1, tile_bytes=tile_bytes, ffma=ffma)) == pytest.approx(expected)

    def test_loads_through_registers(self, tile_bytes, ffma):
        """N (I + L + S + C): st.shared takes as many instructions as ld.global did."""
        load, issue = costs(tile_bytes)
        expected = TILES * (issue + load + issue + ffma)
        assert total_ns(sync_loop(tile_bytes=tile_bytes, ffma=ffma)) == pytest.approx(expected)

    def test_no_copy_is_hidden(self, tile_bytes, ffma):
        """Hidden fraction 0, all copy time exposed."""
        timeline = simulate_kernel(tma_ring(1, tile_bytes=tile_bytes, ffma=ffma), textbook())
        assert hidden_fraction(timeline) == pytest.approx(0, abs=1e-9)
        assert exposed_copy_s(timeline) == pytest.approx(TILES * tile_bytes / 32 * NS)


@pytest.mark.parametrize("stages", [2, 3, 4, 8])
@pytest.mark.parametrize("ffma", ARITHMETIC)
@pytest.mark.parametrize("tile_bytes", LOADS)
class TestRing:
    """Two stages and more: max(L, C) per tile once the ring is full."""

    def test_tma_total(self, tile_bytes, ffma, stages):
        """N max(L, C) + min(L, C): the first load and the last arithmetic stand alone."""
        load, _ = costs(tile_bytes)
        expected = TILES * max(load, ffma) + min(load, ffma)
        assert total_ns(tma_ring(stages, tile_bytes=tile_bytes, ffma=ffma)) == pytest.approx(expected)

    def test_cp_async_period(self, tile_bytes, ffma, stages):
        """Double buffer: the next copy is issued after the meeting, max(L, C) + I; deeper rings keep the unit busy.

        max(L, C + I) from three stages on.
        """
        load, issue = costs(tile_bytes)
        expected = max(load, ffma) + issue if stages == 2 else max(load, ffma + issue)
        timeline = simulate_kernel(cp_async_ring(stages, tile_bytes=tile_bytes, ffma=ffma), textbook(), exact=True)
        assert period_s(timeline) / NS == pytest.approx(expected)

    def test_tma_hides_the_shorter_of_the_two(self, tile_bytes, ffma, stages):
        """All copies but the first are in flight while the consumers compute, as far as they compute."""
        timeline = simulate_kernel(tma_ring(stages, tile_bytes=tile_bytes, ffma=ffma), textbook(), exact=True)
        load, _ = costs(tile_bytes)
        expected = (TILES - 1) / TILES * min(1.0, ffma / load)
        if stages == 2 or ffma >= load:  # deeper rings have several copies in flight: their union is what counts
            assert hidden_fraction(timeline) == pytest.approx(expected, abs=2 / TILES)


@pytest.mark.parametrize("build", [tma_ring, cp_async_ring])
@pytest.mark.parametrize("ffma", ARITHMETIC)
def test_a_further_stage_never_costs(build, ffma):
    """While it fits: S + 1 stages take no longer than S."""
    times = [total_ns(build(stages, ffma=ffma)) for stages in range(1, 9)]
    assert all(after <= before + 1e-6 for before, after in pairwise(times))


def test_stages_beyond_the_latency_bring_nothing():
    """L = C = 128 with a latency of 256: S stages deliver a tile per max(128, (128 + 256 + 128) / S).

    Over a number of tiles that every S divides, since S tiles come in a bunch.
    """
    device = textbook(tma__l2_latency="256 cycles")
    for stages in (1, 2, 3, 4, 5, 8):
        few, many = (total_ns(tma_ring(stages, tiles=tiles), device) for tiles in (120, 240))
        assert (many - few) / 120 == pytest.approx(max(128, 512 / stages))


def test_two_ctas_hide_each_others_loads():
    """Serial CTAs with L = C = 128, two on an SM: one loads while the other computes, 128 per tile and CTA."""
    alone, pair = (total_ns(tma_ring(1, grid=grid), textbook(sm__count=1)) for grid in (1, 2))
    assert alone == pytest.approx(TILES * 256)
    assert pair == pytest.approx(TILES * 256 + 128, abs=0.01)


@pytest.mark.parametrize("module", [tma_warp_specialized, cp_async_multistage])
def test_real_techniques_follow_the_same_law(module):
    """One stage: L + C + code; two and more: the larger of L and what the warps do; never slower with more."""
    times = []
    for stages in (1, 2, 3, 4):
        program = module.TECHNIQUE.build(module.Params(stages=stages, ctas_per_sm=1, grid=132))
        times.append(period_s(simulate_kernel(program, textbook(), exact=True)) / NS)
    load = 16384 / 32
    assert times[0] == pytest.approx(load + times[1], rel=0.02)
    assert times[0] - load > load  # here the warps take longer than the copy
    assert times[1] >= times[2] >= times[3]


def test_real_sync_tile_is_serial():
    """L + C + code: its period is that of the one-stage cp.async ring but for the instructions around."""
    program = sync_tile.TECHNIQUE.build(sync_tile.Params(ctas_per_sm=1, grid=132))
    other = cp_async_multistage.TECHNIQUE.build(cp_async_multistage.Params(stages=1, ctas_per_sm=1, grid=132))
    periods = [period_s(simulate_kernel(p, textbook(), exact=True)) for p in (program, other)]
    assert periods[0] == pytest.approx(periods[1], rel=0.03)
    assert hidden_fraction(simulate_kernel(program, textbook())) == pytest.approx(0, abs=1e-9)
