"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import Acquire, Compute, KernelProgram, Op, Ring, Role, Store, SyncThreads, TmaLoad
from realkernels._parts.tile_loop import EPILOGUE, PROLOGUE, Share, shares_apart
from realkernels._parts.tma_tiles import REGISTERS, RING, consumed, shared_bytes
from realkernels.tma_warp_specialized import Params

PRODUCER_OTHER = 23
PRODUCER_OTHER_SINGLE = 18
"""Per tile of the producer: as a consumer, plus moving the bulk copy's operands to uniform registers.
No op of the program carries them: they lie within the measured issue cost of a bulk copy."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    parts = shares_apart(params.tile_bytes, params.consumer_warps)
    return KernelProgram(
        name="tma_warp_specialized",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=(
            Role("producer", 1, partial(_producer, params)),
            *(Role(f"consumer{part.suffix}", part.warps, partial(_consumer, params, part)) for part in parts),
        ),
        rings=(Ring(RING, params.stages, params.tile_bytes, empty_arrivals=params.consumer_warps),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=REGISTERS,
    )


def producer_other(params: Params) -> int:
    """Instructions per tile of the producer, barrier operations and the copy itself left out."""
    return PRODUCER_OTHER if params.stages > 1 else PRODUCER_OTHER_SINGLE


def _producer(params: Params, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    for tile in range(tiles):
        yield Acquire(RING, tile=tile)
        yield TmaLoad(RING, params.tile_bytes, tile=tile)


def _consumer(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    yield from consumed(params, part, tiles)
    yield Compute(EPILOGUE)
    yield Store(4 * part.warps, width=4)
