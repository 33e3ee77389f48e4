"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import (
    Acquire,
    ClusterSync,
    Compute,
    KernelProgram,
    Mix,
    Op,
    Release,
    Ring,
    Role,
    Store,
    TmaLoad,
    WaitFull,
)
from realkernels.cluster_multicast import Params
from realkernels.tile_loop import EPILOGUE, PROLOGUE, Share, shares_apart, tile_mix
from realkernels.tma_warp_specialized.model import (
    CONSUMER_CYCLES,
    CONSUMER_CYCLES_SINGLE,
    consumer_ahead,
    consumer_other,
)

REGISTERS = 32
"""Upper bound on the registers per thread, over all parameters."""
RING = "input"
CONSUMER_OTHER_MULTICAST = 2
"""Instructions of a consumer per tile for arrivals in other CTAs: the barrier's address there."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    parts = shares_apart(params.tile_bytes, params.consumer_warps)
    return KernelProgram(
        name="cluster_multicast",
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
        cluster=params.cluster,
    )


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: ring, a full and an empty barrier per stage."""
    return params.stages * (params.tile_bytes + 16)


def _producer(params: Params, tiles: int) -> Iterator[Op]:
    # Of CTAs that ask for a tile at about the same time one finds nothing in L2.
    sharing = {"multicast": True} if params.multicast else {
        "l2_hit": 1.0 - 1.0 / params.cluster, "shared_by": float(params.cluster)
    }  # fmt: skip
    yield Compute(PROLOGUE)
    yield ClusterSync()
    for tile in range(tiles):
        yield Acquire(RING, tile=tile)
        yield TmaLoad(RING, params.tile_bytes, tile=tile, **sharing)
    yield ClusterSync()


def _consumer(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    ahead = consumer_ahead(params)
    before, behind = CONSUMER_CYCLES if params.stages > 1 else CONSUMER_CYCLES_SINGLE
    other = consumer_other(params) + (CONSUMER_OTHER_MULTICAST if params.multicast else 0)
    # Its lanes wait for each other before one of them arrives.
    around = Mix(setup=other - ahead, alone=behind, divergent_syncwarps=float(part.parted))
    mix = tile_mix(part.iterations, params.fma_per_element, 0)
    yield Compute(PROLOGUE)
    yield ClusterSync()
    for tile in range(tiles):
        yield Compute(Mix(setup=ahead, alone=before), tile=tile)
        yield WaitFull(RING, tile=tile)
        yield Compute(around, tile=tile)
        if part.iterations:
            yield Compute(mix, tile=tile, reads=RING)
        yield Release(RING, tile=tile)
    yield Compute(EPILOGUE)
    yield Store(4 * part.warps, width=4)
    yield ClusterSync()
