"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`, and what its copies find in L2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from gpusim.program import (
    Acquire,
    Compute,
    KernelProgram,
    Mix,
    NamedBarrier,
    Op,
    Release,
    Ring,
    Role,
    SetMaxNReg,
    Store,
    SyncThreads,
    TmaLoad,
    WaitFull,
    Wgmma,
    WgmmaWait,
)
from realkernels._parts.hopper import GPC_SMS, SMS
from realkernels._parts.l2 import AGAIN_ALL_BYTES
from realkernels._parts.padding import resident_ctas
from realkernels._parts.tile_loop import PROLOGUE
from realkernels.attention import PRODUCER_REGISTERS, PRODUCER_WARPS, QUERIES_PER_WARPGROUP, Params

QUERIES, KEYS, VALUES = "queries", "keys", "values"
PRODUCT_DEPTH = 16
"""Numbers of FP16 that one wgmma sums up over."""
SECTOR = 32
"""Bytes of a row that four lanes write together."""
PING_PONG_WARPS = 8

# Instructions of a multiplying warp, and the cycles that it takes for them alone, counted in the machine code.
BEFORE_KEYS = Mix(setup=13, alone=14)
"""Stage and parity."""
BEFORE_SCORES = Mix(setup=10, alone=26)
"""Descriptors of queries and keys."""
BEFORE_TURN, BEHIND_TURN = Mix(setup=4, alone=24), Mix(setup=8, alone=15)
"""The same around the barrier of a turn."""
BEFORE_OUTPUT = Mix(setup=12, alone=28)
"""Descriptors of values."""
SHUFFLES: dict[int, Any] = {
    64: {"lds": 4.0, "lds_bytes": 4, "loads_in_flight": 1.3, "load_to_use": 9.0},
    128: {"lds": 4.0, "lds_bytes": 4, "loads_in_flight": 1.0, "load_to_use": 2.5},
}
"""Of the maxima of two rows, and how far the compiler puts them ahead of their use, by the keys of a tile."""
EPILOGUE_INSTRUCTIONS, EPILOGUE_CYCLES = 28, 75
"""Behind the last product, besides a division of each result."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    warps = 4 * params.warpgroups
    groups = (("consumer", 4, 0), ("consumer_second", 4, 1)) if params.ping_pong else (("consumer", warps, 0),)
    return KernelProgram(
        name="attention",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=(
            Role("producer", 1, partial(_producer, params)),
            *(Role(name, count, partial(_consumer, params, group)) for name, count, group in groups),
        ),
        rings=(
            Ring(QUERIES, 1, params.query_bytes, empty_arrivals=warps),
            Ring(KEYS, params.stages, params.key_bytes, empty_arrivals=warps),
            Ring(VALUES, params.stages, params.key_bytes, empty_arrivals=warps),
        ),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=params.launch_registers,
        idle_warps=PRODUCER_WARPS - 1,
        footprint_bytes=params.heads * params.tiles_per_cta * params.tile_bytes,
        head=1,
    )


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: queries, rings, a full and an empty barrier per stage, and one of the queries."""
    return params.query_bytes + params.stages * (params.tile_bytes + 32) + 8


def l2_hit(params: Params) -> float:
    """Fraction of what is read of keys and values that L2 has: another CTA of the head has asked for it.

    All of it stays where it fits. Otherwise the CTAs of a wave go through their heads side by side, each of which comes
    from DRAM once a wave.
    """
    if params.heads * params.tiles_per_cta * params.tile_bytes <= AGAIN_ALL_BYTES:
        return 1.0 - 1.0 / params.query_tiles
    wave = SMS * resident_ctas(shared_bytes(params), params.ctas_per_sm)
    reads = 0
    for first in range(0, params.grid, wave):
        last = min(first + wave, params.grid) - 1
        reads += last // params.query_tiles - first // params.query_tiles + 1
    return 1.0 - reads / params.grid


def exponentials(params: Params) -> Mix:
    """A warp's scores of a tile to probabilities, and maxima and sums of its rows: `rescaled` is not in it."""
    keys = params.tile_keys
    return Mix(
        ffma=keys + 8.0,
        mufu=keys / 2 + 2.0,
        **SHUFFLES[params.tile_keys],
        interleaved=0.55 * keys + 4.0,
        half_rate=0.55 * keys + 2.0,
        ilp=3.3,
        pipe_stalls=0.3 * keys,
        alone=75 + 4.9 * keys,
        gaps=(1.33 * keys, 0.33 * keys, 5.0, 5.0),
    )


def rescaled(params: Params) -> Mix:
    """What was summed up before to the new maximum, and probabilities to FP16."""
    return Mix(
        ffma=params.head / 2,
        interleaved=params.tile_keys / 4 + 9.0,
        ilp=params.head / 2,
        alone=30 + 0.44 * params.head + 0.51 * params.tile_keys,
        gaps=(params.head / 2 + 4.0, params.tile_keys / 4, 0.0, 0.0),
    )


def softmax(params: Params) -> Mix:
    """Both, where nothing stands between them: the compiler puts the multiplications beside the exponentials."""
    keys, head = params.tile_keys, params.head
    return Mix(
        ffma=keys + head / 2 + 8.0,
        mufu=keys / 2 + 2.0,
        **SHUFFLES[params.tile_keys],
        interleaved=0.75 * keys + 6.0,
        half_rate=keys / 2 + 1.0,
        ilp=3.6,
        pipe_stalls=0.3 * keys,
        alone=80 + 5.1 * keys,
        gaps=(1.5 * keys + head / 2, 0.35 * keys, 3.0, 4.0),
    )


def _producer(params: Params, tiles: int) -> Iterator[Op]:
    sharing = {"l2_hit": l2_hit(params), "shared_by": float(min(params.query_tiles, GPC_SMS))}
    yield Compute(PROLOGUE)
    yield SyncThreads()
    yield SetMaxNReg(PRODUCER_REGISTERS)
    yield Acquire(QUERIES)
    yield TmaLoad(QUERIES, params.query_bytes)
    for tile in range(tiles):
        yield Acquire(KEYS, tile=tile)
        yield TmaLoad(KEYS, params.key_bytes, tile=tile, **sharing)
        yield Acquire(VALUES, tile=tile)
        yield TmaLoad(VALUES, params.key_bytes, tile=tile, **sharing)


def _consumer(params: Params, group: int, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    yield SetMaxNReg(params.consumer_registers)
    if group == 1:
        yield _turn_over(group)
    yield WaitFull(QUERIES)
    for tile in range(tiles):
        yield Compute(BEFORE_KEYS, tile=tile)
        yield WaitFull(KEYS, tile=tile)
        if params.ping_pong:
            yield Compute(BEFORE_TURN, tile=tile)
            yield NamedBarrier(1 + group, PING_PONG_WARPS, tile=tile)
        yield Compute(BEHIND_TURN if params.ping_pong else BEFORE_SCORES, tile=tile)
        yield Wgmma(params.tile_keys, params.head // PRODUCT_DEPTH, PRODUCT_DEPTH, reads=KEYS, tile=tile)
        if tile:
            yield from _output(params, tile - 1)
        if params.ping_pong:
            yield _turn_over(group, tile)
        yield WgmmaWait(params.pending if tile else 0, tile=tile)
        yield Release(KEYS, tile=tile)
        if params.pending or not tile:
            yield Compute(exponentials(params), tile=tile)
            yield WgmmaWait(tile=tile)
            if tile:
                yield Release(VALUES, tile=tile - 1)
            yield Compute(rescaled(params), tile=tile)
        else:
            yield Release(VALUES, tile=tile - 1)
            yield Compute(softmax(params), tile=tile)
    yield from _output(params, tiles - 1)
    if params.ping_pong and group == 0:
        yield NamedBarrier(1, PING_PONG_WARPS)
    yield WgmmaWait()
    yield Release(VALUES, tile=tiles - 1)
    yield Compute(Mix(ffma=params.head / 2 + 4, setup=EPILOGUE_INSTRUCTIONS, alone=EPILOGUE_CYCLES + params.head / 2))
    rows = QUERIES_PER_WARPGROUP * (1 if params.ping_pong else params.warpgroups)
    yield Store(4 * rows * params.head, width=8, scatter=SECTOR, completed=1.0)


def _turn_over(group: int, tile: int = -1) -> Op:
    """The other group may ask for products."""
    return NamedBarrier(2 - group, PING_PONG_WARPS, wait=False, tile=tile)


def _output(params: Params, tile: int) -> Iterator[Op]:
    """Products of a tile's probabilities with its values."""
    yield WaitFull(VALUES, tile=tile)
    yield Compute(BEFORE_OUTPUT, tile=tile)
    yield Wgmma(params.head, params.tile_keys // PRODUCT_DEPTH, PRODUCT_DEPTH, "registers", reads=VALUES, tile=tile)
