"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`, and what its copies find in L2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import (
    WARP_SIZE,
    CommitGroup,
    Compute,
    CpAsync,
    KernelProgram,
    Mix,
    Op,
    Ring,
    Role,
    Store,
    SyncThreads,
    WaitGroup,
)
from realkernels._parts.l2 import product_sharing
from realkernels._parts.product_tiles import footprint_bytes, l2_hits
from realkernels._parts.tile_loop import PLACEHOLDERS, PROLOGUE, VECTOR_BYTES
from realkernels.gemm_mma import Params

RING = "input"
ROW_PADDING = 16
"""Bytes of a row of a stage besides what it holds."""
MMA_M, MMA_N, MMA_K = 16, 8, 16
SECTOR = 32
"""Bytes of a row that four lanes write together."""

REGISTERS = {16: 40, 32: 64, 64: 104, 128: 176}
"""Of a thread, by its sums."""
REGISTERS_ONE_STAGE = {(64, 4): 120, (64, 8): 120, (128, 4): 224}
"""The same with one stage of the smaller depth, where the compiler loads all fragments ahead; by sums and warps."""

# Instructions per stage of a warp, counted in the machine code of 15 tiles with three stages and with one.
ISSUE_OTHER, ISSUE_OTHER_OF_COPY = 8, 0.75
"""Addresses of the copies, and what each of them adds."""
AROUND = 5
"""Stage, counters and the branch of the loop, between the products; hardly any with one stage."""
LOADS_IN_FLIGHT, LOAD_TO_USE = 2.25, 3.0
LOADS_IN_FLIGHT_ONE_STAGE, LOAD_TO_USE_ONE_STAGE = 1.5, 0.0
"""Loads of fragments that are waited for together, and instructions between them and their use: medians of what the
compiler makes of 14 tiles, from 1.2 to 4 loads and from 0.6 to 15 instructions with several stages."""
MMA_STALL = 6.1
"""Cycles from one mma to the next by the compiler's stall counts."""
EPILOGUE = Mix(setup=14, interleaved=30)
"""Behind the last product: the addresses of its results."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    return KernelProgram(
        name="gemm_mma",
        grid=params.grid,
        tiles_per_cta=params.k_tiles,
        roles=(Role("worker", params.warps, partial(_worker, params, l2_hits(params, shared_bytes(params)))),),
        rings=(Ring(RING, params.stages, stage_bytes(params)),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=registers(params),
        footprint_bytes=footprint_bytes(params),
    )


def registers(params: Params) -> int:
    """Of a thread."""
    ahead = params.stages == 1 and params.depth == 32
    usual = REGISTERS[params.sums]
    return REGISTERS_ONE_STAGE.get((params.sums, params.warps), usual) if ahead else usual


def stage_bytes(params: Params) -> int:
    """Shared memory of one stage."""
    return (params.tile_m + params.tile_n) * (2 * params.depth + ROW_PADDING)


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: ring, an arrival barrier per stage (instrumented build)."""
    return params.stages * (stage_bytes(params) + 8)


def products(params: Params) -> Mix:
    """What a warp does with one stage."""
    warp_m, warp_n = params.tile_m // params.warps_m, params.tile_n * params.warps_m // params.warps
    steps, independent = params.depth // MMA_K, warp_m // MMA_M * (warp_n // MMA_N)
    several = params.stages > 1
    around = AROUND if several else 0
    return Mix(
        mma=steps * independent,
        mma_ilp=independent,
        # Four 8 x 8 matrices at once.
        lds=steps * (warp_m // MMA_M + warp_n // (2 * MMA_N)),
        lds_bytes=16,
        loads_in_flight=LOADS_IN_FLIGHT if several else LOADS_IN_FLIGHT_ONE_STAGE,
        load_to_use=LOAD_TO_USE if several else LOAD_TO_USE_ONE_STAGE,
        setup=around,
        alone=MMA_STALL * steps * independent + 3 * around,
    )


def _worker(params: Params, hits: tuple[float, float], tiles: int) -> Iterator[Op]:
    ahead = params.stages - 1
    mix = products(params)
    for_a, for_b = product_sharing(params.grid_m)

    def issue(tile: int) -> Iterator[Op]:
        if tile < tiles:
            yield _copy(params.a_bytes, params, hits[0], for_a, tile, first=True)
            yield _copy(params.b_bytes, params, hits[1], for_b, tile)
        yield CommitGroup(tile=tile if tile < tiles else -1)

    yield Compute(PROLOGUE)
    for tile in range(ahead):
        yield from issue(tile)
    for tile in range(tiles):
        if ahead:
            yield WaitGroup(ahead - 1, tile=tile)
            yield SyncThreads(tile=tile)
            yield from issue(tile + ahead)
            yield Compute(mix, tile=tile, reads=RING)
        else:
            yield from issue(tile)
            yield WaitGroup(tile=tile)
            yield SyncThreads(tile=tile)
            yield Compute(mix, tile=tile, reads=RING)
            yield SyncThreads(tile=tile)
    yield Compute(EPILOGUE)
    yield Store(4 * params.tile_m * params.tile_n, width=8, scatter=SECTOR, completed=1.0)


def _copy(size: int, params: Params, l2_hit: float, shared_by: float, tile: int, *, first: bool = False) -> CpAsync:
    """A part of each row: side by side in shared memory, but far from each other in global memory."""
    copies = size // VECTOR_BYTES // (WARP_SIZE * params.warps)
    other = ISSUE_OTHER_OF_COPY * copies + ISSUE_OTHER * first
    masked = PLACEHOLDERS if first else 0.0
    row = 2 * params.depth
    return CpAsync(
        RING, size, other=other, masked=masked, l2_hit=l2_hit, shared_by=shared_by, pieces=size // row, row=row,
        pitch=row + ROW_PADDING, tile=tile,
    )  # fmt: skip
