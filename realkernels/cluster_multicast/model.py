"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import Acquire, ClusterSync, Compute, KernelProgram, Op, Ring, Role, Store, TmaLoad
from realkernels._parts.tile_loop import EPILOGUE, PROLOGUE, Share, shares_apart
from realkernels._parts.tma_tiles import REGISTERS, RING, consumed, shared_bytes
from realkernels.cluster_multicast import Params

CONSUMER_OTHER_MULTICAST = 2
"""Instructions of a consumer per tile for arrivals in other CTAs, counted in the machine code: the address there."""


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
    yield Compute(PROLOGUE)
    yield ClusterSync()
    yield from consumed(params, part, tiles, CONSUMER_OTHER_MULTICAST if params.multicast else 0)
    yield Compute(EPILOGUE)
    yield Store(4 * part.warps, width=4)
    yield ClusterSync()
