"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gpusim.program import (
    CommitGroup,
    Compute,
    CpAsync,
    KernelProgram,
    Op,
    Ring,
    Role,
    Store,
    SyncThreads,
    WaitGroup,
)
from realkernels._parts.cp_async_tiles import (
    RING,
    SKIP_OTHER,
    executed_by_nobody,
    issue_other,
    placeholders,
    shared_bytes,
    tile_other,
)
from realkernels._parts.tile_loop import EPILOGUE, PROLOGUE, Share, shares, tile_mix
from realkernels.cp_async_multistage import Params

REGISTERS = 32
"""Upper bound on the registers per thread, over all parameters."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    return KernelProgram(
        name="cp_async_multistage",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=tuple(
            Role(f"worker{part.suffix}", part.warps, partial(_worker, params, part))
            for part in shares(params.tile_bytes, params.warps)
        ),
        rings=(Ring(RING, params.stages, params.tile_bytes),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=REGISTERS,
    )


def _worker(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    ahead = params.stages - 1
    skipped = 0 if part.bytes else SKIP_OTHER
    mix = tile_mix(part.iterations, params.fma_per_element, tile_other(params) + skipped)
    if ahead:
        # Lanes part ways at the end of the vector loop and around the copy.
        mix = replace(mix, divergent_branches=2.0 * part.parted)
    else:
        masked = executed_by_nobody(part, placeholders(params))
        mix = replace(mix, divergent_branches=float(part.parted), masked=masked)
    reads = RING if part.iterations else None

    def issue(tile: int) -> Iterator[Op]:
        if part.bytes and tile < tiles:
            align = params.tile_bytes & -params.tile_bytes
            other, masked = issue_other(params), placeholders(params)
            yield CpAsync(RING, part.bytes, other=other, masked=masked, align=align, tile=tile)
        yield CommitGroup(tile=tile if tile < tiles else -1)

    yield Compute(PROLOGUE)
    for tile in range(ahead):
        yield from issue(tile)
    for tile in range(tiles):
        if ahead:
            yield WaitGroup(ahead - 1, tile=tile)
            yield SyncThreads(tile=tile)
            yield from issue(tile + ahead)
            yield Compute(mix, tile=tile, reads=reads)
        else:
            yield from issue(tile)
            yield WaitGroup(0, tile=tile)
            yield SyncThreads(tile=tile)
            yield Compute(mix, tile=tile, reads=reads)
            yield SyncThreads(tile=tile)
    yield Compute(EPILOGUE)
    yield Store(4 * part.warps, width=4)
