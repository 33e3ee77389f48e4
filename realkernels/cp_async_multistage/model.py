"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gpusim.program import (
    WARP_SIZE,
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
from realkernels.cp_async_multistage import Params
from realkernels.tile_loop import EPILOGUE, PLACEHOLDERS, PROLOGUE, VECTOR_BYTES, Share, shares, tile_mix

ISSUE_UNROLL = 8
"""cp.async in a straight run; more are rolled. Passed to the kernel as a define."""
REGISTERS = 32
"""Upper bound on the registers per thread, over all parameters."""

RING = "input"
OFFSET_REACH = 0x1000
"""Bytes of global addresses that LDGSTS reaches from one base; each further base costs `BASE_OTHER`."""
BASE_OTHER = 2
ISSUE_OTHER = 5
"""Per tile issued: stage address, next source, placeholders."""
UNEVEN_OTHER = 7
"""Once more when the vectors do not divide evenly: comparison, branch, reconvergence, placeholders."""
SKIP_OTHER = 5
"""Per tile of a warp that has no vector to ask for: comparison, branch, reconvergence, next source."""
TURN_OTHER = 10
"""Per turn of a rolled issue loop."""
TILE_OTHER = 17
TILE_OTHER_SINGLE = 10
"""Per tile besides the issue: counters, stage, entry into the vector loop; the latter with one stage."""


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


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: ring, an arrival barrier per stage (instrumented build)."""
    return params.stages * (params.tile_bytes + 8)


def issue_other(params: Params) -> int:
    """Instructions per tile, besides LDGSTS itself and placeholders, that a warp spends on issuing its share."""
    threads = WARP_SIZE * params.warps
    whole, left = divmod(params.tile_bytes // VECTOR_BYTES, threads)
    turns = whole // ISSUE_UNROLL if whole // ISSUE_UNROLL > 1 else 0
    straight = whole + (left != 0) - turns * ISSUE_UNROLL
    other = ISSUE_OTHER + BASE_OTHER * _bases(straight, threads)
    other += turns * (TURN_OTHER + BASE_OTHER * _bases(ISSUE_UNROLL, threads))
    if left and params.stages > 1:
        other += UNEVEN_OTHER
    return other + (4 if turns and left else 0) - placeholders(params)


def placeholders(params: Params) -> int:
    """Loads per tile that no lane executes.

    A run is a turn of the rolled loop, the rest, and the uneven rest where a branch keeps it apart (several stages).
    """
    whole, left = divmod(params.tile_bytes // VECTOR_BYTES, WARP_SIZE * params.warps)
    turns, rest = divmod(whole, ISSUE_UNROLL) if whole // ISSUE_UNROLL > 1 else (0, whole)
    runs = (rest > 0) + (left > 0)
    return PLACEHOLDERS * (turns + (runs if params.stages > 1 else min(runs, 1)))


def executed_by_nobody(part: Share, ahead: int) -> float:
    """Accesses per tile that no lane of a warp executes, where a predicate keeps the uneven rest in the run.

    ``ahead``: placeholders of the run, which a warp with copies of its own counts among them.
    """
    return float(part.left_out + (0 if part.bytes else ahead))


def tile_other(params: Params) -> int:
    """Instructions per tile around the vector loop, the issue left out."""
    return TILE_OTHER if params.stages > 1 else TILE_OTHER_SINGLE


def _bases(count: int, threads: int) -> int:
    """Distinct base addresses, besides the first, that ``count`` vectors of one thread need."""
    stride = VECTOR_BYTES * threads
    return len({(i * stride + OFFSET_REACH // 2) // OFFSET_REACH for i in range(count)} - {0})


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
