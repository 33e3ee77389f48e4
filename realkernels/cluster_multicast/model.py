"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gpusim.program import (
    WARP_SIZE,
    Acquire,
    Arrive,
    Barrier,
    ClusterSync,
    Compute,
    KernelProgram,
    LoadCluster,
    Mix,
    Op,
    Release,
    Ring,
    Role,
    Store,
    TmaLoad,
    Wait,
    WaitFull,
)
from realkernels._parts.hopper import REGISTERS_PER_SM
from realkernels._parts.tile_loop import EPILOGUE, FMA_UNROLL, PROLOGUE, Share, shares_apart, tile_mix
from realkernels._parts.tma_tiles import REGISTERS, RING, consumed, consumer_ahead, consumer_cycles, consumer_other
from realkernels.cluster_multicast import Params

CONSUMER_OTHER_MULTICAST = 2
"""Instructions of a consumer per tile for arrivals in other CTAs, counted in the machine code: the address there."""

# Counted in the machine code as well: what loading from peers takes.
PEERS_REGISTERS, ROLLED_REGISTERS = 40, 48
"""Registers per thread; the latter of some kernels whose FMAs are a loop. Others of these have no more than the former,
as those have of which CTAs would not fit."""
READY = "ready"
"""Barriers, one a stage, at which each CTA tells all that its part is there."""
AHEAD = 4
"""Loads of a consumer under way at once."""
ADDRESSES_OTHER = 43
"""Around so many loads, whether there are as many or not: whose part, the address there, whether there are more. They
are 56 instructions of 190 cycles by the stall counts: as long as so many of which each waits for the one before."""
BETWEEN_VECTORS = 1
"""From the arithmetic of one to that of the next: whether there is one."""
RELAY = Mix(setup=7, interleaved=9, alone=61)
"""Of the warp that tells, for each tile: stage and parity, addresses. The last is what it takes by the stall counts."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    parts, peers = shares_apart(params.tile_bytes, params.consumer_warps), params.peers
    consumer = partial(_loading_from_peers, params) if peers else partial(_consumer, params)
    return KernelProgram(
        name="cluster_multicast",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=(
            Role("producer", 1, partial(_producer, params)),
            *(Role(f"consumer{part.suffix}", part.warps, partial(consumer, part)) for part in parts),
            *((Role("relay", 1, partial(_relay, params)),) if peers else ()),
        ),
        rings=(Ring(RING, params.stages, params.stage_bytes, empty_arrivals=params.consumer_warps),),
        barriers=tuple(Barrier(f"{READY}{stage}", params.cluster) for stage in range(params.stages if peers else 0)),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=registers(params),
        cluster=params.cluster,
    )


def registers(params: Params) -> int:
    """Registers per thread."""
    if not params.peers:
        return REGISTERS
    threads = params.ctas_per_sm * WARP_SIZE * (params.consumer_warps + 2)
    rolled = params.fma_per_element > FMA_UNROLL and threads * ROLLED_REGISTERS <= REGISTERS_PER_SM
    return ROLLED_REGISTERS if rolled else PEERS_REGISTERS


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: ring, a full and an empty barrier per stage, and one that peers arrive at."""
    return params.stages * (params.stage_bytes + (24 if params.peers else 16))


def _producer(params: Params, tiles: int) -> Iterator[Op]:
    sharing = {}
    if params.multicast:
        sharing = {"multicast": True}
    elif not params.peers:
        # Of CTAs that ask for a tile at about the same time one finds nothing in L2.
        sharing = {"l2_hit": 1.0 - 1.0 / params.cluster, "shared_by": float(params.cluster)}
    yield Compute(PROLOGUE)
    yield ClusterSync()
    for tile in range(tiles):
        yield Acquire(RING, tile=tile)
        yield TmaLoad(RING, params.stage_bytes, tile=tile, **sharing)
    yield ClusterSync()


def _consumer(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield ClusterSync()
    yield from consumed(params, part, tiles, CONSUMER_OTHER_MULTICAST if params.multicast else 0)
    yield from _end(part)


def _loading_from_peers(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    """Some loads of each warp ahead, of which its own CTA has an equal part as each of the others."""
    ahead, (before, behind) = consumer_ahead(params), consumer_cycles(params)
    others = consumer_other(params) + CONSUMER_OTHER_MULTICAST - ahead
    around, own = Mix(setup=others, alone=behind, divergent_syncwarps=float(part.parted)), 1.0 / params.cluster
    yield Compute(PROLOGUE)
    yield ClusterSync()
    for tile in range(tiles):
        yield Compute(Mix(setup=ahead, alone=before), tile=tile)
        yield Wait(f"{READY}{tile % params.stages}", phase=tile // params.stages, tile=tile)
        yield Compute(around, tile=tile)
        for first in range(0, part.iterations, AHEAD):
            count = min(AHEAD, part.iterations - first)
            amount = part.bytes_of(first, count)
            from_others = round(amount * (1.0 - own))
            yield LoadCluster(from_others, other=ADDRESSES_OTHER, masked=float(AHEAD - count), reads=RING, tile=tile)
            yield Compute(_arithmetic(params, count), tile=tile, reads=RING)
        yield Release(RING, tile=tile)
    yield from _end(part)


def _arithmetic(params: Params, vectors: int) -> Mix:
    """That of so many vectors in registers; what came from its own CTA was there before the rest."""
    mix = replace(tile_mix(vectors, params.fma_per_element, 0), lds=0.0)
    # Where a vector's FMAs are a loop of their own the mix has what stands between them already.
    return mix if params.fma_per_element > FMA_UNROLL else replace(mix, other=float(BETWEEN_VECTORS * vectors))


def _relay(params: Params, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield ClusterSync()
    for tile in range(tiles):
        yield WaitFull(RING, tile=tile)
        yield Compute(RELAY, tile=tile)
        yield Arrive(f"{READY}{tile % params.stages}", cluster=True, tile=tile)
    yield ClusterSync()


def _end(part: Share) -> Iterator[Op]:
    yield Compute(EPILOGUE)
    yield Store(4 * part.warps, width=4)
    yield ClusterSync()
