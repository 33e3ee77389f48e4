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
    Mix,
    Op,
    Ring,
    Role,
    Store,
    SyncThreads,
    WaitGroup,
)
from realkernels._parts.cp_async_tiles import (
    RING,
    executed_by_nobody,
    issue_other,
    placeholders,
    shared_bytes,
    tile_other,
)
from realkernels._parts.tile_loop import FMA_UNROLL, PLACEHOLDERS, PROLOGUE, Share, shares, tile_mix
from realkernels.persistent import Params

COUNT_OTHER = 7
"""Per tile, besides what cp_async_multistage does: tiles left of the item, and of the one asked for."""
ROLL_END = 1
"""Per vector whose FMAs are rolled: the end of the stage, for which no register is left."""
ITEM = Mix(ffma=8, setup=15, ilp=1.0)
"""Per item: four sums to one, a shuffle tree over the warp, the address of the result, sums back to zero."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    return KernelProgram(
        name="persistent",
        grid=params.grid,
        tiles_per_cta=tiles(params),
        roles=tuple(
            Role(f"worker{part.suffix}", part.warps, partial(_worker, params, part))
            for part in shares(params.tile_bytes, params.warps)
        ),
        rings=(Ring(RING, params.stages, params.tile_bytes),),
        # A CTA that stays does the same again with its next item; with one item it ends whenever its tiles do.
        turn=params.tiles_per_item if params.mode == "persistent" else 1,
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=registers(params),
    )


def tiles(params: Params) -> int | tuple[int, ...]:
    """Tiles of each CTA; one number where all have the same."""
    each, more = divmod(params.items, params.grid)
    if not more:
        return each * params.tiles_per_item
    return tuple((each + (cta < more)) * params.tiles_per_item for cta in range(params.grid))


def registers(params: Params) -> int:
    """Registers per thread that the compiler takes, in allocation steps of 8; one step off in one of ten kernels.

    More where it unrolls: several vectors, stages and tiles of an item.
    """
    unrolled = shares(params.tile_bytes, params.warps)[0].iterations >= 4 and params.tiles_per_item > 1
    return 40 if unrolled and params.stages > 2 else 32


def item_tile_other(params: Params) -> int:
    """Instructions per tile around the vector loop, issue and the end of an item left out."""
    return tile_other(params) + COUNT_OTHER


def vector_mix(params: Params, iterations: int, skipped: int = 0) -> Mix:
    """Instructions of one warp that computes ``iterations`` vectors per lane of one tile, ``skipped`` besides."""
    mix = tile_mix(iterations, params.fma_per_element, item_tile_other(params) + skipped)
    return replace(mix, other=mix.other + ROLL_END * iterations * (params.fma_per_element > FMA_UNROLL))


def _worker(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    ahead = params.stages - 1
    # Here a predicate, not a branch, keeps the uneven rest in the run, and all warps execute what is around it.
    mix = vector_mix(params, part.iterations, 0 if part.bytes else issue_other(params))
    masked = min(placeholders(params), PLACEHOLDERS)
    mix = replace(mix, divergent_branches=float(part.parted), masked=executed_by_nobody(part, masked))
    reads = RING if part.iterations else None
    other = issue_other(params) + placeholders(params) - masked
    align = params.tile_bytes & -params.tile_bytes

    def issue(tile: int) -> Iterator[Op]:
        if part.bytes and tile < tiles:
            yield CpAsync(RING, part.bytes, other=other, masked=masked, align=align, tile=tile)
        yield CommitGroup(tile=tile if tile < tiles else -1)

    yield Compute(PROLOGUE)
    for tile in range(ahead):
        yield from issue(tile)
    for tile in range(tiles):
        yield WaitGroup(ahead - 1, tile=tile)
        yield SyncThreads(tile=tile)
        yield from issue(tile + ahead)
        yield Compute(mix, tile=tile, reads=reads)
        if tile == tiles - 1 or (tile + 1) % params.tiles_per_item == 0:
            yield Compute(ITEM, tile=tile)
            yield Store(4 * part.warps, width=4, tile=tile)
