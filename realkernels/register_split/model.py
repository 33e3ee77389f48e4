"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`.

What does not fit into a consumer's registers is spilled (`realkernels.register_split.spills`).

Models: local stores go through L1 to L2, at the rate at which all SMs can write it; of local loads L1 serves what
  random replacement leaves of the values that warps go round and round (`realkernels._parts.l1`), the others come from
  L2. A warp waits for the slowest of each batch of loads, behind the stores of all warps before it, as far as FMAs do
  not hide it. What all threads spill goes on to DRAM, round after round, as far as L2 has no room for it.
Omits: which values of a batch miss. ``setmaxnreg`` itself has an assumed cost, paid once per CTA.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import ceil

from gpusim.program import (
    WARP_SIZE,
    Acquire,
    Compute,
    KernelProgram,
    Load,
    Mix,
    Op,
    Release,
    Ring,
    Role,
    SetMaxNReg,
    Store,
    SyncThreads,
    TmaLoad,
    WaitFull,
    WaitLoads,
)
from gpusim.program.registers import MOST_REGISTERS
from realkernels._parts.l2 import rewritten_hits
from realkernels._parts.tile_loop import EPILOGUE, FMA_UNROLL, PROLOGUE, VECTOR_BYTES, Share, shares_apart, tile_mix
from realkernels._parts.tma_tiles import shared_bytes
from realkernels.register_split import PRODUCER_WARPS, Params
from realkernels.register_split.spills import (
    LOCAL_BYTES,
    excess,
    local_hit,
    local_waits,
    spilled_bytes,
    spills,
    swapped,
    tile_local,
    vector_loads,
)

RING = "input"

CONSUMER_OTHER = 21
CONSUMER_OTHER_SINGLE = 14
"""Per tile of a consumer: stage and parity, barrier address, entry into the vector loop, the
branch of the wait; with one stage the stage never changes."""
CONSUMER_AHEAD = 14
CONSUMER_AHEAD_SINGLE = 4
"""How many of them are done before the wait returns: behind the last arrival, or while the barrier is looked at."""
AHEAD_CYCLES, AHEAD_CYCLES_SPILLED = 25, 45
"""What these take a warp that is alone, by the compiler's stall counts: those done while a barrier is looked at take
none. Code that spills has more of them."""
PRODUCER_OTHER = 22
PRODUCER_OTHER_SINGLE = 17
"""Per tile of the producer. No op of the program carries them: they lie within the measured issue cost of a
bulk copy."""

WORKING = 16
WORKING_FMA = 3
WORKING_ROLLED = 4
"""Registers a consumer needs besides its sums, at most: the vector, addresses, stage and parity; with FMAs also
their two constants and a copy of the vector; with rolled FMAs the counters."""

SPILLED_END = 2
"""Per vector of a spilling consumer with one stage: computing where the stage ends (with more it is loaded)."""
PIECES = 4
"""A tile is taken in so many pieces or more, so that what is swapped passes beside arithmetic and waits; the kernel
swaps a few sums after the other."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    parts = shares_apart(params.tile_bytes, params.consumer_warps)
    return KernelProgram(
        name="register_split",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=(
            Role("producer", 1, partial(_producer, params)),
            *(Role(f"consumer{part.suffix}", part.warps, partial(_consumer, params, part)) for part in parts),
        ),
        rings=(Ring(RING, params.stages, params.tile_bytes, empty_arrivals=params.consumer_warps),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=registers(params),
        idle_warps=PRODUCER_WARPS - 1,
    )


def needed(params: Params) -> int:
    """Registers a consumer thread would take if it could have them all."""
    fma = WORKING_FMA * (params.fma_per_element > 0) + WORKING_ROLLED * (params.fma_per_element > FMA_UNROLL)
    return params.accumulators + WORKING + fma


def registers(params: Params) -> int:
    """Upper bound on the registers per thread at launch; with a split exactly the bound the compiler is given."""
    if params.mode == "split":
        return params.launch_registers
    return min(max(needed(params), 32), params.launch_registers)


def vector_other(params: Params) -> int:
    """Instructions for each vector to compute what no register holds; those of every tile pipeline left out."""
    return SPILLED_END if params.stages == 1 and excess(params) >= -8 else 0


def tile_other(params: Params) -> int:
    """Instructions per tile of a consumer warp around its vector loop; barriers and local memory left out."""
    return CONSUMER_OTHER if params.stages > 1 else CONSUMER_OTHER_SINGLE


def tile_ahead(params: Params) -> int:
    """How many of `tile_other` are done before the wait for a tile returns."""
    return CONSUMER_AHEAD if params.stages > 1 else CONSUMER_AHEAD_SINGLE


def producer_other(params: Params) -> int:
    """Instructions per tile of the producer, barrier operations and the copy itself left out."""
    return PRODUCER_OTHER if params.stages > 1 else PRODUCER_OTHER_SINGLE


def consumer_mix(params: Params, iterations: float, *, first: bool = True) -> Mix:
    """Instructions of one warp for ``iterations`` vectors per lane of one tile, what goes to L2 left out.

    ``first``: with what is done once per tile.
    """
    base = tile_mix(iterations, params.fma_per_element, tile_other(params) - tile_ahead(params) if first else 0)
    return Mix(
        ffma=float(iterations * (4 * params.fma_per_element + params.accumulators)),
        lds=float(iterations),
        other=base.other + iterations * vector_other(params),
        setup=base.setup,
        ilp=base.ilp,
        lds_bytes=VECTOR_BYTES,
    )


def _producer(params: Params, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    if params.mode == "split":
        yield SetMaxNReg(params.producer_registers)
    for tile in range(tiles):
        yield Acquire(RING, tile=tile)
        yield TmaLoad(RING, params.tile_bytes, tile=tile)


def _consumer(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    if params.mode == "split":
        yield SetMaxNReg(params.consumer_registers)
    ahead_cycles = AHEAD_CYCLES_SPILLED if spills(params) else AHEAD_CYCLES
    pieces = _pieces(params, part)
    for tile in range(tiles):
        yield Compute(Mix(setup=tile_ahead(params), alone=ahead_cycles), tile=tile)
        yield WaitFull(RING, tile=tile)
        for piece in range(pieces):
            yield from _piece(params, part, part.iterations / pieces, tile, first=not piece)
        yield Release(RING, tile=tile)
    yield Compute(EPILOGUE)
    yield Compute(Mix(ffma=float(params.accumulators - 4), ilp=4.0))
    yield Store(4 * part.warps, width=4)


def _pieces(params: Params, part: Share) -> int:
    """Of one tile: `PIECES`, or as many as leave each no more to load than a thread has registers."""
    if not (spills(params) and part.iterations):
        return 1
    room = MOST_REGISTERS - tile_local(params)[0]
    return max(PIECES, ceil(part.iterations * vector_loads(params) / room))


def _piece(params: Params, part: Share, vectors: float, tile: int, *, first: bool) -> Iterator[Op]:
    """``vectors`` per lane of one tile; the ``first`` piece has what is done once per tile."""
    each = LOCAL_BYTES * WARP_SIZE * part.warps
    loads, stores = tile_local(params) if first else (0, 0)
    loaded = round(each * (vectors * vector_loads(params) + loads))
    stored = round(each * (vectors * swapped(params) + stores))
    waits = local_waits(params, vectors, first=first)
    found, kept = rewritten_hits(spilled_bytes(params))
    own = LOCAL_BYTES * (swapped(params) + tile_local(params)[1]) * WARP_SIZE * part.warps
    if loaded:
        yield Load(loaded, width=LOCAL_BYTES, wait=False, l1_hit=local_hit(params), l2_hit=found, tile=tile)
    # Once per tile the lanes wait for each other, before one of them arrives.
    mix = replace(consumer_mix(params, vectors, first=first), divergent_syncwarps=float(first and part.parted))
    yield Compute(mix, tile=tile, reads=RING if vectors else None)
    if waits.alone:
        yield Compute(waits, tile=tile)
    if stored:
        yield Store(stored, width=LOCAL_BYTES, l2_hit=kept, again=own, tile=tile)
    if loaded:
        yield WaitLoads(tile=tile)
