"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`, and what its copies find in L2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import (
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
from realkernels._parts.tile_loop import PLACEHOLDERS, PROLOGUE
from realkernels.gemm_mma import Params
from realkernels.gemm_mma.machine_code import counted

RING = "input"
ROW_PADDING = 16
"""Bytes of a row of a stage besides what it holds."""
SECTOR = 32
"""Bytes of a row that four lanes write together."""

REGISTERS = {16: 40, 32: 64, 64: 104, 128: 176}
"""Of a thread, by its sums."""
REGISTERS_ONE_STAGE = {(64, 4): 120, (64, 8): 120, (128, 4): 224}
"""The same with one stage of the smaller depth, where the compiler loads all fragments ahead; by sums and warps."""

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


def _worker(params: Params, hits: tuple[float, float], tiles: int) -> Iterator[Op]:
    ahead, code = params.stages - 1, counted(params)
    for_a, for_b = product_sharing(params.grid_m)

    def issue(tile: int) -> Iterator[Op]:
        yield Compute(code.ahead)
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
            yield Compute(code.products, tile=tile, reads=RING)
        else:
            yield from issue(tile)
            yield WaitGroup(tile=tile)
            yield SyncThreads(tile=tile)
            yield Compute(code.products, tile=tile, reads=RING)
            yield SyncThreads(tile=tile)
    yield Compute(EPILOGUE)
    yield Store(4 * params.tile_m * params.tile_n, width=8, scatter=SECTOR, completed=1.0)


def _copy(size: int, params: Params, l2_hit: float, shared_by: float, tile: int, *, first: bool = False) -> CpAsync:
    """A part of each row: side by side in shared memory, but far from each other in global memory."""
    row = 2 * params.depth
    return CpAsync(
        RING, size, masked=PLACEHOLDERS if first else 0.0, l2_hit=l2_hit, shared_by=shared_by, pieces=size // row,
        row=row, pitch=row + ROW_PADDING, tile=tile,
    )  # fmt: skip
