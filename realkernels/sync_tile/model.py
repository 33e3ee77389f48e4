"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gpusim.program import Compute, KernelProgram, Load, Op, Role, Store, StoreShared, SyncThreads
from realkernels._parts.tile_loop import EPILOGUE, PROLOGUE, Share, shares, tile_mix
from realkernels.sync_tile import Params

BATCH_OTHER = 2
"""Per batch: the two warp barriers that keep loads before stores."""
LOOP_OTHER = 8
"""Per batch of a rolled batch loop, besides `BATCH_OTHER`: addresses, counter, comparison, branch."""
TILE_OTHER = 10
"""Per tile: addresses, tile counter, entry into the vector loop."""
UNEVEN_OTHER = 3
"""Per tile when the vectors do not divide evenly: comparison and predicated moves."""
LONG_LOOP = 6
"""Vectors in full batches from which on the rest behind them costs registers."""
LOOP_SETUP = 4
"""Per tile with a rolled batch loop: copies of the addresses, its counter."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    parts = shares(params.tile_bytes, params.warps)
    return KernelProgram(
        name="sync_tile",
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
    """Registers per thread that the compiler takes, in allocation steps of 8; one step off in one of five kernels.

    A float4 for each vector of a batch; a bit more where another batch, not a full one, comes after those of a loop.
    """
    held = min(params.batch, shares(params.tile_bytes, params.warps)[0].iterations)
    full, rest = batches(params)
    besides = 26 if full * params.batch >= LONG_LOOP and 0 < rest < params.batch else 20
    return max(-(-(besides + 4 * held) // 8) * 8, 32) if held > 1 else 32


def uneven(params: Params) -> bool:
    """Whether some threads have one vector more than others."""
    return params.tile_bytes // 16 % (32 * params.warps) != 0


def batches(params: Params) -> tuple[int, int]:
    """(batches that every thread has in full, vectors of the batch after them), as in the kernel."""
    head = shares(params.tile_bytes, params.warps)[0]
    whole = params.tile_bytes // 16 // (32 * params.warps)
    full = whole // params.batch
    return full, head.iterations - full * params.batch


def tile_other(params: Params) -> tuple[int, int]:
    """(instructions around the batches once per tile, instructions per full batch); the rest costs `BATCH_OTHER`."""
    full, _ = batches(params)
    rolled = full > 1
    around = TILE_OTHER + UNEVEN_OTHER * uneven(params) + LOOP_SETUP * rolled
    return around, BATCH_OTHER + LOOP_OTHER * rolled


def _worker(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    around, per_batch = tile_other(params)
    full, rest = batches(params)
    steps = [(part.bytes_of(k * params.batch, params.batch), per_batch) for k in range(full)]
    steps.append((part.bytes_of(full * params.batch, rest), BATCH_OTHER))
    mix = tile_mix(part.iterations, params.fma_per_element, around)
    # Load and store of a last vector that only other warps have.
    mix = replace(mix, divergent_branches=float(part.parted), masked=2.0 * part.left_out)
    yield Compute(PROLOGUE)
    for tile in range(tiles):
        for moved, other in steps:
            if moved:
                yield Load(moved, other=other, align=params.tile_bytes & -params.tile_bytes, tile=tile)
                yield StoreShared(moved, tile=tile)
        yield SyncThreads(tile=tile)
        yield Compute(mix, tile=tile)
        yield SyncThreads(tile=tile)
    yield Compute(EPILOGUE)
    yield Store(4 * part.warps, width=4)
