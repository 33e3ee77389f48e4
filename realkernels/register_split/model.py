"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`.

What does not fit into a consumer's registers is spilled. The counts of local loads and stores
(LDL, STL) are those of the compiled kernel; a test compares them with the SASS.

Models: local stores go through L1 to L2, at the rate at which all SMs can write it; local loads behind them, as if they
  came from L2 too. Where L1 holds the values they do not, by hardware counters, but wait in the same queue: warps
  wait for them for two thirds of the time, and kernels whose loads all hit take as long as this says. Besides, a warp
  waits for them one after the other, as far as FMAs do not hide it. What all threads spill goes on to DRAM, round
  after round, as far as L2 has no room for it.
Omits: local loads that miss L1 while others do not, which take the way to L2 one after the other. ``setmaxnreg`` itself
  has an assumed cost, paid once per CTA.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

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
from realkernels.l2 import rewritten_hits
from realkernels.padding import SMS
from realkernels.register_split import PRODUCER_WARPS, Params
from realkernels.tile_loop import EPILOGUE, FMA_UNROLL, PROLOGUE, VECTOR_BYTES, Share, shares, shares_apart, tile_mix

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

FIRST_SPILLED, SPILLED_PER_REGISTER = 10.0, 1.25
SPILLED_FMA = 2.0
STEEP, SPILLED_PER_REGISTER_LATER = 48, 1.125
"""Sums swapped for each vector when there are as many of them as registers (`FIRST_SPILLED`), and for every
one more up to `STEEP`, and from there on: the compiler also needs registers to swap through."""
SPILLED_END = 2
"""Per vector of a spilling consumer with one stage: computing where the stage ends (with more it is loaded)."""
LOCAL_BYTES = 4
"""A spilled value of a thread."""
PIECES = 8
"""A tile is taken in so many pieces, so that what is swapped passes beside arithmetic; the kernel swaps vector by
vector."""
FEW_SWAPPED, LOADS_IN_FLIGHT, LOCAL_CYCLES, FMA_CYCLES = 26, 3.0, 33.0, 4.0
"""So few sums are swapped through one register, each waited for; of more, so many are on their way at once (bench
``local``: 28 to 35 cycles for each of 11 and 26 sums, 10 to 11 for each of 36 to 84). Latency of a load and of a
dependent FMA."""
STATE = {
    "uniform": {"single": (5, 2), "straight": (7, 4), "rolled": (9, 5)},
    "split": {"single": (4, 1), "straight": (6, 3), "rolled": (2, 0)},
}
"""Local loads and stores per tile of a consumer that spills, by the kind of code: stage, parity, addresses."""
STATE_ROLLED_ONLY = 3, 1
"""The same where only the count of rolled FMAs has no register."""


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


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: ring, a full and an empty barrier per stage."""
    return params.stages * (params.tile_bytes + 16)


def needed(params: Params) -> int:
    """Registers a consumer thread would take if it could have them all."""
    fma = WORKING_FMA * (params.fma_per_element > 0) + WORKING_ROLLED * (params.fma_per_element > FMA_UNROLL)
    return params.accumulators + WORKING + fma


def registers(params: Params) -> int:
    """Upper bound on the registers per thread at launch; with a split exactly the bound the compiler is given."""
    if params.mode == "split":
        return params.launch_registers
    return min(max(needed(params), 32), params.launch_registers)


def spills(params: Params) -> bool:
    """Whether anything is kept in local memory."""
    return _excess(params) >= (-16 if params.fma_per_element > FMA_UNROLL else -8)


def swapped(params: Params) -> int:
    """Sums loaded from and stored to local memory for each vector."""
    excess = _excess(params)
    if excess < 0:
        # Short by less than a step of registers: only what the FMAs need besides is missing.
        return int(SPILLED_FMA) if excess == -8 and params.fma_per_element else 0
    first = FIRST_SPILLED + SPILLED_FMA * (params.fma_per_element > 0)
    later = max(excess - STEEP, 0)
    return round(first + SPILLED_PER_REGISTER * min(excess, STEEP) + SPILLED_PER_REGISTER_LATER * later)


def vector_loads(params: Params) -> int:
    """Local loads (LDL) for each vector: the sums swapped in, the end of the stage, the count of rolled FMAs."""
    constants = (params.stages > 1) + (params.fma_per_element > FMA_UNROLL)
    return swapped(params) + (constants if _excess(params) >= -8 else 0)


def tile_local(params: Params) -> tuple[int, int]:
    """Local loads and stores (LDL, STL) per tile around the vector loop."""
    excess, rolled = _excess(params), params.fma_per_element > FMA_UNROLL
    if excess < -8:
        return STATE_ROLLED_ONLY if rolled and excess == -16 else (0, 0)
    if params.mode == "split":
        kind = "rolled" if rolled and excess >= 0 else "single" if params.stages == 1 else "straight"
    else:
        kind = "single" if params.stages == 1 else "rolled" if rolled else "straight"
    return STATE[params.mode][kind]


def vector_other(params: Params) -> int:
    """Instructions for each vector to compute what no register holds; those of every tile pipeline left out."""
    return SPILLED_END if params.stages == 1 and _excess(params) >= -8 else 0


def tile_other(params: Params) -> int:
    """Instructions per tile of a consumer warp around its vector loop; barriers and local memory left out."""
    return CONSUMER_OTHER if params.stages > 1 else CONSUMER_OTHER_SINGLE


def tile_ahead(params: Params) -> int:
    """How many of `tile_other` are done before the wait for a tile returns."""
    return CONSUMER_AHEAD if params.stages > 1 else CONSUMER_AHEAD_SINGLE


def producer_other(params: Params) -> int:
    """Instructions per tile of the producer, barrier operations and the copy itself left out."""
    return PRODUCER_OTHER if params.stages > 1 else PRODUCER_OTHER_SINGLE


def spilled_bytes(params: Params) -> int:
    """What all resident threads with vectors keep in local memory."""
    ctas = min(params.grid, SMS * params.ctas_per_sm)
    parts = shares(params.tile_bytes, params.consumer_warps)
    warps = ctas * sum(part.warps for part in parts if part.iterations)
    return LOCAL_BYTES * (swapped(params) + tile_local(params)[1]) * WARP_SIZE * warps


def consumer_mix(params: Params, iterations: int, *, first: bool = True) -> Mix:
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


def local_waits(params: Params, iterations: int) -> Mix:
    """What one warp waits for its local loads: for one after the other if few sums are swapped, else for several.

    Loads are on their way while the vector's FMAs are computed.
    """
    loads = vector_loads(params)
    batches = loads / (1.0 if swapped(params) <= FEW_SWAPPED else LOADS_IN_FLIGHT)
    batches -= params.fma_per_element * FMA_CYCLES / LOCAL_CYCLES
    if batches <= 0.0 or not loads:
        return Mix()
    return Mix(lds=float(iterations * loads), lds_bytes=LOCAL_BYTES, loads_in_flight=loads / batches)


def _excess(params: Params) -> int:
    """Sums beyond the registers of a consumer thread; both are multiples of eight."""
    return params.accumulators - params.consumer_registers


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
    pieces = min(max(part.iterations, 1), PIECES) if spills(params) else 1
    for tile in range(tiles):
        yield Compute(Mix(setup=tile_ahead(params), alone=ahead_cycles), tile=tile)
        yield WaitFull(RING, tile=tile)
        for piece in range(pieces):
            vectors = part.iterations * (piece + 1) // pieces - part.iterations * piece // pieces
            yield from _piece(params, part, vectors, tile, first=not piece)
        yield Release(RING, tile=tile)
    yield Compute(EPILOGUE)
    yield Compute(Mix(ffma=float(params.accumulators - 4), ilp=4.0))
    yield Store(4 * part.warps, width=4)


def _piece(params: Params, part: Share, vectors: int, tile: int, *, first: bool) -> Iterator[Op]:
    """``vectors`` per lane of one tile; the ``first`` piece has what is done once per tile."""
    each = LOCAL_BYTES * WARP_SIZE * part.warps
    loads, stores = tile_local(params) if first else (0, 0)
    loaded = each * (vectors * vector_loads(params) + loads)
    stored = each * (vectors * swapped(params) + stores)
    waits = local_waits(params, vectors)
    found, kept = rewritten_hits(spilled_bytes(params))
    own = LOCAL_BYTES * (swapped(params) + tile_local(params)[1]) * WARP_SIZE * part.warps
    if loaded:
        yield Load(loaded, width=LOCAL_BYTES, wait=False, l2_hit=found, tile=tile)
    # Once per tile the lanes wait for each other, before one of them arrives.
    mix = replace(consumer_mix(params, vectors, first=first), divergent_syncwarps=float(first and part.parted))
    yield Compute(mix, tile=tile, reads=RING if vectors else None)
    if waits.lds:
        yield Compute(waits, tile=tile)
    if stored:
        yield Store(stored, width=LOCAL_BYTES, l2_hit=kept, again=own, tile=tile)
    if loaded:
        yield WaitLoads(tile=tile)
