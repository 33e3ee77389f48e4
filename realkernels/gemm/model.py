"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`, and what its copies find in L2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import (
    Acquire,
    Compute,
    KernelProgram,
    Mix,
    Op,
    Release,
    Ring,
    Role,
    Store,
    SyncThreads,
    TmaLoad,
    WaitFull,
    Wgmma,
    WgmmaWait,
)
from realkernels._parts.l2 import product_sharing
from realkernels._parts.product_tiles import footprint_bytes, l2_hits
from realkernels._parts.tile_loop import PROLOGUE
from realkernels._parts.tma_tiles import shared_bytes
from realkernels.gemm import DEPTH, Params

RING = "input"
PRODUCTS = 4
"""wgmma of a stage: 32 floats are four times 32 bytes."""
PRODUCT_DEPTH = DEPTH // PRODUCTS
REGISTERS = 26
"""Registers of a thread besides its sums."""
SECTOR = 32
"""Bytes of a row that four lanes write together."""

BEFORE, BEFORE_CYCLES = 9, 27
"""Instructions of a multiplying warp from a release to the next wait, and what they take it alone by the compiler's
stall counts: stage and parity, the barrier's address, the branch of the loop."""
BEHIND, BEHIND_CYCLES = 31, 56
"""The same from the wait to the first wgmma: the descriptors of four pairs of operands."""
EPILOGUE = Mix(setup=20, interleaved=10)
"""Behind the last product: the addresses of its results."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    warps = 4 * params.warpgroups
    return KernelProgram(
        name="gemm",
        grid=params.grid,
        tiles_per_cta=params.k_tiles,
        roles=(
            Role("consumer", warps, partial(_consumer, params)),
            Role("producer", 1, partial(_producer, params, l2_hits(params, shared_bytes(params)))),
        ),
        rings=(Ring(RING, params.stages, params.tile_bytes, full_arrivals=2, empty_arrivals=warps),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=REGISTERS + params.tile_n // 2,
        footprint_bytes=footprint_bytes(params),
    )


def _producer(params: Params, hits: tuple[float, float], tiles: int) -> Iterator[Op]:
    for_a, for_b = product_sharing(params.grid_m)
    yield Compute(PROLOGUE)
    yield SyncThreads()
    for tile in range(tiles):
        yield Acquire(RING, tile=tile)
        yield TmaLoad(RING, params.a_bytes, l2_hit=hits[0], shared_by=for_a, tile=tile)
        yield TmaLoad(RING, params.b_bytes, l2_hit=hits[1], shared_by=for_b, tile=tile)


def _consumer(params: Params, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    for tile in range(tiles):
        yield Compute(Mix(setup=BEFORE, alone=BEFORE_CYCLES), tile=tile)
        yield WaitFull(RING, tile=tile)
        yield Compute(Mix(setup=BEHIND, alone=BEHIND_CYCLES), tile=tile)
        yield Wgmma(params.tile_n, PRODUCTS, PRODUCT_DEPTH, reads=RING, tile=tile)
        yield WgmmaWait(params.pending, tile=tile)
        if tile >= params.pending:
            yield Release(RING, tile=tile - params.pending)
    yield WgmmaWait()
    yield Compute(EPILOGUE)
    yield Store(4 * params.tile_m * params.tile_n, width=8, scatter=SECTOR, completed=1.0)
