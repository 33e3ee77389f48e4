"""`gemm`: its oracle reads what the kernel reads, its instructions are those of the kernel, and it says what L2 has."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.hardware import load_profile, occupancy, simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import sass
from gpusim.timeline.metrics import hidden_fraction
from realkernels._parts.l2 import product_sharing
from realkernels._parts.product_tiles import l2_hits
from realkernels._parts.tma_tiles import shared_bytes
from realkernels.gemm import DEPTH, TECHNIQUE, Params, launch, model, oracle
from tests.realkernels.compiled import REGISTER_STEP, allocated, compile_spec
from tests.realkernels.test_oracle import Device

TAKEN, TOLERANCE = 4, 30
"""Cycles of a branch that is taken; and by which one compilation may differ, as some keep descriptors in registers."""
SMALL = Params(tile_n=64, warpgroups=1, grid_m=2, grid_n=2, k_tiles=2)


def packed(rows: int, depth: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """An operand [rows, depth] and the same tile by tile in core matrices of 8 rows of 16 bytes."""
    plain = np.random.default_rng(seed).random((rows, depth), dtype=np.float32)
    tiles = plain.reshape(rows // 8, 8, depth // DEPTH, DEPTH // 4, 4)
    return plain, np.ascontiguousarray(tiles.transpose(2, 3, 0, 1, 4)).reshape(depth // DEPTH, -1)


def test_packing_is_undone():
    """First along the rows and then along k."""
    plain, tiles = packed(64, 96, 1)
    assert np.array_equal(oracle.unpacked(tiles, 64), plain)


def product(change: float = 0.0) -> float:
    """The error that the oracle finds in a product of two by two tiles, one element of which is off by ``change``."""
    halves = [packed(64, 2 * DEPTH, seed) for seed in range(4)]
    a, b = (np.concatenate([plain for plain, _ in pair]) for pair in (halves[:2], halves[2:]))
    floats = [tiles.ravel() for _, tiles in halves]
    out = (oracle.cut(a).astype(np.float64) @ oracle.cut(b).astype(np.float64).T).astype(np.float32)
    out[0, 0] *= 1.0 + change
    plan = SimpleNamespace(params=SMALL, technique=TECHNIQUE)
    return oracle.compare(np.concatenate(floats).view(Device), out.ravel().view(Device), plan)


def test_the_oracle_takes_the_product_and_no_other():
    """A hundredth is too much, and so is an element that nobody has written."""
    assert product() < 0.01
    with pytest.raises(AssertionError, match="off by"):
        product(0.01)
    with pytest.raises(AssertionError, match="never written"):
        product(np.nan)


def test_what_l2_has_is_what_others_have_asked_for():
    """Of a product that fits each byte comes once; of a larger one once a wave."""

    def hits(params: Params) -> tuple[float, float]:
        return l2_hits(params, shared_bytes(params))

    fits = Params(grid_m=8, grid_n=16, k_tiles=16)
    assert hits(fits) == (1 - 8 / 128, 1 - 16 / 128)
    large = Params(grid_m=33, grid_n=8, k_tiles=2000)
    assert hits(large) == (1 - 2 * 33 / 264, 1 - 8 / 264)
    # Of two CTAs that were asked for an SM has room for one, so that a wave is half as long.
    crowded = replace(large, ctas_per_sm=2, stages=7, warpgroups=1)
    assert hits(crowded) == hits(replace(crowded, ctas_per_sm=1))
    traffic = Traffic.of(model.build(fits))
    assert traffic.missed_bytes == pytest.approx(16 * (8 * fits.a_bytes + 16 * fits.b_bytes))
    assert traffic.tensor_flop == 2 * (8 * 128) * (16 * 128) * (16 * DEPTH)


def test_neighbours_in_the_grid_share_columns():
    """Up to as many as a GPC has SMs; of rows only those that come again within it."""
    assert product_sharing(4) == (4.0, 4.0)
    assert product_sharing(64) == (1.0, 16.0)


def test_too_few_stages_let_tensor_cores_starve():
    """As recorded: two stages with products under way are as one."""
    device = load_profile("h200_sxm")
    hidden = [
        hidden_fraction(simulate_kernel(model.build(Params(grid_m=12, grid_n=11, stages=s, pending=p)), device))
        for s, p in ((1, 0), (2, 1), (2, 0), (4, 1))
    ]
    assert hidden[0] < hidden[1] < hidden[2] < hidden[3]
    assert hidden[3] > 0.8


@pytest.mark.parametrize("warpgroups", [1, 2, 3])
def test_registers_bound_wide_tiles(warpgroups):
    """Three warpgroups of 256 columns have no room for their sums."""
    program = model.build(Params(tile_n=256, warpgroups=warpgroups, stages=1, pending=0))
    if warpgroups < 3:
        assert occupancy(program, load_profile("h200_sxm")).ctas_per_sm >= 1
    else:
        with pytest.raises(Exception, match="registers"):
            occupancy(program, load_profile("h200_sxm"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [{"tile_n": 64, "warpgroups": 1, "pending": 0}, {"tile_n": 128}, {"tile_n": 128, "pending": 0}, {"tile_n": 256}],
    ids=str,
)
def test_the_model_states_what_the_kernel_executes(values) -> None:
    """Products of a turn, registers, and the cycles of the code around them; skips without tools."""
    params = Params(**values)
    compiled = compile_spec(launch.build(params).plan.spec())
    loop = next(one for one in sass.branch_loops(compiled.instructions) if sass.family(one.counts, "HGMMA"))
    body = [one for one in compiled.instructions if loop.first <= one.address <= loop.last]
    products = [at for at, one in enumerate(body) if one.root == "HGMMA"]
    look = next(at for at, one in enumerate(body) if "PHASECHK" in one.opcode)
    waits = next(at for at, one in enumerate(body) if "DEPBAR" in one.opcode)

    def cycles(those: list[sass.Instruction]) -> int:
        return sum(max(one.stall or 0, 1) for one in those)

    assert len(products) == model.PRODUCTS
    assert 0 <= allocated(model.build(params).registers) - allocated(compiled.registers) <= REGISTER_STEP
    assert cycles(body[waits + 1 :]) + cycles(body[:look]) + TAKEN == pytest.approx(model.BEFORE_CYCLES, abs=TOLERANCE)
    assert cycles(body[look : products[0]]) == pytest.approx(model.BEHIND_CYCLES, abs=TOLERANCE)
