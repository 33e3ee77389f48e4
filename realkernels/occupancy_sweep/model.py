"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import Compute, KernelProgram, Load, Mix, Op, Role, Store
from gpusim.program.registers import MOST_REGISTERS
from realkernels._parts.hopper import WARPS_PER_SM
from realkernels._parts.tile_loop import EPILOGUE, PROLOGUE
from realkernels.occupancy_sweep import MOST_IN_STEPS, Params, registers_for

LOAD_OTHER = {1: 4, 2: 7, 3: 8, 4: 8}
"""Per turn, by loads: the next addresses."""
TURN_OTHER = 3
"""Per turn: counter, comparison, branch."""
SPARE = 16
"""Registers that the kernel needs besides those it is made to hold."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    return KernelProgram(
        name="occupancy_sweep",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=(Role("worker", params.warps, partial(_worker, params)),),
        share_of_sm=params.ctas_per_sm if params.limiter == "shared_memory" else None,
        registers=registers(params),
    )


def registers(params: Params) -> int:
    """Upper bound on the registers per thread."""
    if params.limiter != "registers":
        return 32 if WARPS_PER_SM // params.warps * params.warps > 48 else 40
    wanted = registers_for(params.warps, params.ctas_per_sm)
    return wanted if wanted < MOST_IN_STEPS else MOST_REGISTERS


def held(params: Params) -> int:
    """Registers to hold for nothing, so that `registers` are taken."""
    if params.limiter != "registers":
        return 0
    return min(registers(params), MOST_IN_STEPS) - SPARE


def min_ctas(params: Params) -> int:
    """CTAs for which the compiler must leave registers: those resident, or as many as warps allow."""
    return params.ctas_per_sm if params.limiter == "registers" else WARPS_PER_SM // params.warps


def _worker(params: Params, tiles: int) -> Iterator[Op]:
    mix = Mix(ffma=4.0 * params.loads, setup=TURN_OTHER, ilp=4.0)
    yield Compute(PROLOGUE)
    for tile in range(tiles):
        yield Load(params.tile_bytes, other=LOAD_OTHER[params.loads], tile=tile)
        yield Compute(mix, tile=tile)
    yield Compute(EPILOGUE)
    yield Store(4 * params.warps, width=4)
