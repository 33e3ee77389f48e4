"""What consumers execute that get tiles by bulk copies (TMA) through a ring of mbarriers from one producer warp.

Counted in the machine code (sm_90a) of `realkernels.tma_warp_specialized`; a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from gpusim.program import Compute, Mix, Op, Release, WaitFull
from realkernels._parts.tile_loop import Share, tile_mix

__all__ = [
    "CONSUMER_CYCLES", "CONSUMER_CYCLES_SINGLE", "REGISTERS", "RING", "ConsumedTiles", "RingOfTiles", "consumed",
    "consumer_ahead", "consumer_cycles", "consumer_other", "shared_bytes",
]  # fmt: skip

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


class RingOfTiles(Protocol):
    """What the parameters of any kernel with such a ring say: bytes of a tile, stages."""

    @property
    def tile_bytes(self) -> int: ...
    @property
    def stages(self) -> int: ...


class ConsumedTiles(RingOfTiles, Protocol):
    """What those of a kernel say whose consumers go over the floats of a tile: also the FMAs on each."""

    @property
    def fma_per_element(self) -> int: ...


def shared_bytes(params: RingOfTiles) -> int:
    """Dynamic shared memory of a CTA: ring, a full and an empty barrier per stage."""
    return params.stages * (params.tile_bytes + 16)


def consumer_other(params: ConsumedTiles) -> int:
    """Instructions per tile of a consumer warp around its vector loop, barrier operations left out."""
    return CONSUMER_OTHER if params.stages > 1 else CONSUMER_OTHER_SINGLE


def consumer_ahead(params: ConsumedTiles) -> int:
    """How many of `consumer_other` are done before the wait for a tile returns."""
    return CONSUMER_AHEAD if params.stages > 1 else CONSUMER_AHEAD_SINGLE


def consumer_cycles(params: ConsumedTiles) -> tuple[int, int]:
    """Cycles that these take a warp that is alone, before the wait and behind it."""
    return CONSUMER_CYCLES if params.stages > 1 else CONSUMER_CYCLES_SINGLE


def consumed(params: ConsumedTiles, part: Share, tiles: int, further: int = 0) -> Iterator[Op]:
    """What consumers do with their ``tiles``, with so many ``further`` instructions for each."""
    ahead = consumer_ahead(params)
    before, behind = consumer_cycles(params)
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
