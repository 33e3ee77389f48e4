"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gpusim.program import Compute, KernelProgram, Load, Op, Role, Store, StoreShared, SyncThreads, WaitLoads
from realkernels._parts.tile_loop import EPILOGUE, PROLOGUE, Share, shares, tile_mix
from realkernels.register_prefetch import Params

LOAD_OTHER = 3
"""Per tile loaded: is there another one, its address."""
TILE_OTHER = 10
"""Per tile: tile counter, entry into the vector loop."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    parts = shares(params.tile_bytes, params.warps)
    return KernelProgram(
        name="register_prefetch",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=tuple(Role(f"worker{part.suffix}", part.warps, partial(_worker, params, part)) for part in parts),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=registers(params),
    )


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory that a CTA uses; ``share_of_sm`` pads it."""
    return params.tile_bytes


def registers(params: Params) -> int:
    """Registers per thread that the compiler takes, in allocation steps of 8: a float4 for each vector on its way."""
    held = shares(params.tile_bytes, params.warps)[0].iterations
    besides = 24 if held < 16 else 32
    return max(-(-(besides + 4 * held) // 8) * 8, 32)


def tile_other() -> int:
    """Instructions per tile around the vector loop, loads, stores and barriers left out."""
    return TILE_OTHER + LOAD_OTHER


def _worker(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    mix = tile_mix(part.iterations, params.fma_per_element, TILE_OTHER)
    # Load and store of a last vector that only other warps have; a single one's store stands behind a branch.
    mix = replace(mix, divergent_branches=float(part.parted), masked=part.left_out * (2.0 if part.iterations else 1.0))
    align = params.tile_bytes & -params.tile_bytes

    def prefetch(tile: int) -> Iterator[Op]:
        if part.bytes and tile < tiles:
            yield Load(part.bytes, other=LOAD_OTHER, wait=False, align=align, tile=tile)

    yield Compute(PROLOGUE)
    yield from prefetch(0)
    for tile in range(tiles):
        if part.bytes:
            yield WaitLoads(tile=tile)
            yield StoreShared(part.bytes, tile=tile)
        yield SyncThreads(tile=tile)
        yield from prefetch(tile + 1)
        yield Compute(mix, tile=tile)
        yield SyncThreads(tile=tile)
    yield Compute(EPILOGUE)
    yield Store(4 * part.warps, width=4)
