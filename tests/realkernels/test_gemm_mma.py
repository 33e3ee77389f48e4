"""`gemm_mma`: its oracle reads what the kernel reads, its instructions are those of the kernel, stages hide copies."""

from __future__ import annotations

from dataclasses import replace
from itertools import product as every
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.hardware import load_profile, occupancy, simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import sass
from realkernels.gemm_mma import TECHNIQUE, Params, launch, model, oracle
from realkernels.gemm_mma.machine_code import counted
from tests.realkernels.compiled import compile_spec
from tests.realkernels.test_oracle import Device

SMALL = Params(tile_m=64, tile_n=64, grid_m=2, grid_n=2, k_tiles=2)
ONE_WAVE = Params(grid_m=12, grid_n=11, k_tiles=64)


def product(change: float = 0.0) -> float:
    """The error that the oracle finds in a product of two by two tiles, one element of which is off by ``change``."""
    numbers = np.random.default_rng(1).random((256, 64), dtype=np.float32).astype(np.float16)
    a, b = numbers[:128].astype(np.float64), numbers[128:].astype(np.float64)
    out = (a @ b.T).astype(np.float32)
    out[0, 0] *= 1.0 + change
    plan = SimpleNamespace(params=SMALL, technique=TECHNIQUE)
    return oracle.compare(numbers.ravel().view(np.float32).view(Device), out.ravel().view(Device), plan)


def test_the_oracle_takes_the_product_and_no_other():
    """A thousandth is too much, and so is an element that nobody has written."""
    assert product() < 0.01
    with pytest.raises(AssertionError, match="off by"):
        product(0.001)
    with pytest.raises(AssertionError, match="never written"):
        product(np.nan)


def test_a_tile_too_large_for_its_warps_is_refused():
    """256 sums a thread; the message says what would do."""
    with pytest.raises(ValueError, match="256 sums a thread, which have no room: at most 128; use 8 warps"):
        Params(tile_m=128, tile_n=256, warps=4)


def test_everything_is_read_and_multiplied():
    """Bytes of both operands as often as CTAs want them, and two FLOPs for each pair."""
    params = Params(grid_m=8, grid_n=16, k_tiles=16)
    traffic = Traffic.of(model.build(params))
    assert traffic.missed_bytes == pytest.approx(16 * (8 * params.a_bytes + 16 * params.b_bytes))
    assert traffic.tensor_flop == 2 * (8 * 128) * (16 * 128) * (16 * 32)


@pytest.mark.parametrize("warps", [4, 8])
def test_stages_bring_what_they_brought_on_the_device(warps):
    """Each of the first three is quicker, as recorded; a fourth hardly."""
    device = load_profile("h200_sxm")
    times = [
        simulate_kernel(model.build(replace(ONE_WAVE, warps=warps, stages=s)), device, trace=False).total_s
        for s in (1, 2, 3, 4)
    ]
    assert times[0] > 1.2 * times[1] > 1.2 * times[2]
    assert times[2] > 0.95 * times[3]


@pytest.mark.parametrize("values", [{}, {"warps": 4}, {"tile_n": 256}, {"tile_m": 64, "tile_n": 64}], ids=str)
def test_there_is_room_for_one(values):
    assert occupancy(model.build(replace(ONE_WAVE, **values)), load_profile("h200_sxm")).ctas_per_sm >= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [{}, {"warps": 4}, {"depth": 64}, {"tile_n": 256}, {"tile_m": 256}, {"tile_m": 64, "tile_n": 64, "warps": 4},
     {"tile_m": 64, "tile_n": 256, "warps": 4}, {"stages": 1}],
    ids=str,
)  # fmt: skip
def test_the_model_states_what_the_kernel_executes(values) -> None:
    """Products, loads and copies of a stage, everything else, registers; skips without tools."""
    params = Params(**values)
    compiled = compile_spec(launch.build(params).plan.spec())
    loop = next(one for one in sass.branch_loops(compiled.instructions) if sass.family(one.counts, "HMMA"))
    body = [one for one in compiled.instructions if loop.first <= one.address <= loop.last]
    count = {root: sum(one.root == root for one in body) for root in ("HMMA", "LDSM", "LDGSTS")}
    code, copies = counted(params), params.tile_bytes // 16 // (32 * params.warps)
    assert (count["HMMA"], count["LDSM"], count["LDGSTS"]) == (code.products.mma, code.products.lds, copies)
    # Besides loads that no lane executes, the end of a group, the wait for one, barriers, and with one stage what is
    # done while its copies are under way.
    others = len(body) - copies - model.PLACEHOLDERS - 2 - (1 if params.stages > 1 else 2)
    assert code.ahead.issue_slots + code.products.issue_slots == pytest.approx(
        others, abs=6 if params.stages > 1 else 12
    )
    assert compiled.registers <= model.registers(params)


@pytest.mark.parametrize("stages", range(1, 9))
def test_machine_code_is_known_of_every_kernel(stages):
    """Each has the products and the fragments that its tile needs, in the order of its machine code."""
    for tile_m, tile_n, depth, warps in every((64, 128, 256), (64, 128, 256), (32, 64), (4, 8)):
        try:
            params = Params(tile_m=tile_m, tile_n=tile_n, depth=depth, warps=warps, stages=stages)
        except ValueError:
            continue
        mix = counted(params).products
        rows, columns = tile_m // params.warps_m // 16, tile_n * params.warps_m // warps // 8
        assert mix.mma == depth // 16 * rows * columns
        assert mix.lds == depth // 16 * (rows + columns // 2)
        assert sum(products for _, products, _ in mix.fragments) == mix.mma
        assert sum(loads for loads, _, _ in mix.fragments) == mix.lds
