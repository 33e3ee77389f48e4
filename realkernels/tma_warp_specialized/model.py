"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

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
)
from realkernels.tile_loop import EPILOGUE, PROLOGUE, Share, shares_apart, tile_mix
from realkernels.tma_warp_specialized import Params

REGISTERS = 32
"""Upper bound on the registers per thread, over all parameters."""
RING = "input"

CONSUMER_OTHER = 20
CONSUMER_OTHER_SINGLE = 13
"""Per tile of a consumer: stage and parity, barrier address, entry into the vector loop, the
branch of the wait; with one stage the stage never changes."""
CONSUMER_AHEAD = 14
CONSUMER_AHEAD_SINGLE = 4
"""How many of them are done before the wait returns: behind the last arrival, or while the barrier is looked at."""
CONSUMER_CYCLES, CONSUMER_CYCLES_SINGLE = (25, 35), (28, 48)
"""Cycles that these take a warp that is alone, before the wait and behind it, by the compiler's stall counts; what it
does while the barrier is looked at takes none."""
PRODUCER_OTHER = 23
PRODUCER_OTHER_SINGLE = 18
"""Per tile of the producer: the same, plus moving the bulk copy's operands to uniform registers.
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


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: ring, a full and an empty barrier per stage."""
    return params.stages * (params.tile_bytes + 16)


def consumer_other(params: Params) -> int:
    """Instructions per tile of a consumer warp around its vector loop, barrier operations left out."""
    return CONSUMER_OTHER if params.stages > 1 else CONSUMER_OTHER_SINGLE


def consumer_ahead(params: Params) -> int:
    """How many of `consumer_other` are done before the wait for a tile returns."""
    return CONSUMER_AHEAD if params.stages > 1 else CONSUMER_AHEAD_SINGLE


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


def consumed(params: Params, part: Share, tiles: int, further: int = 0) -> Iterator[Op]:
    """What consumers do with their ``tiles``, with so many ``further`` instructions for each."""
    ahead = consumer_ahead(params)
    before, behind = CONSUMER_CYCLES if params.stages > 1 else CONSUMER_CYCLES_SINGLE
    # Its lanes wait for each other before one of them arrives.
    around = Mix(setup=consumer_other(params) + further - ahead, alone=behind, divergent_syncwarps=float(part.parted))
    mix = tile_mix(part.iterations, params.fma_per_element, 0)
    for tile in range(tiles):
        yield Compute(Mix(setup=ahead, alone=before), tile=tile)
        yield WaitFull(RING, tile=tile)
        yield Compute(around, tile=tile)
        if part.iterations:
            yield Compute(mix, tile=tile, reads=RING)
        yield Release(RING, tile=tile)
