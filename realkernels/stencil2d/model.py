"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`.

Copies are numbered by rows of inputs, everything else by rows of outputs: output ``t`` needs the inputs ``t`` …
``t + 2 * radius``.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from realkernels._parts.tile_loop import (
    FMA_UNROLL,
    PLACEHOLDERS,
    ROLL_OTHER,
    ROLL_SETUP,
    VECTOR_BYTES,
    WARP_VECTOR_BYTES,
)
from realkernels.stencil2d import Params

RING = "rows"
HALO_BYTES = 2 * VECTOR_BYTES
APART = 16
"""What divides the distance between a row in global memory, on a line, and in the ring, behind its left halo: sectors
pass twice (realkernels.microbench shifted)."""
"""Of a row: one vector of the neighbours' columns on either side."""
REGISTERS, REGISTERS_LOOP = {1: 32, 2: 32, 3: 48, 4: 48}, {1: 40, 2: 40, 3: 48, 4: 56}
REGISTERS_ONE_WARP = {1: 40, 2: 56, 3: 64, 4: 64}
"""Registers per thread that the compiler takes, by radius, in allocation steps of 8: with one vector per thread, with
several, and in a CTA of one warp, where it is less sparing. One step off in one of five kernels."""

PROLOGUE = Mix(setup=70, ldc=3)
"""Before the first row: thread number, strip and band, addresses of inputs and outputs."""
ISSUE_OTHER = 18
"""Per row asked for, besides the copies: place in the ring, sources of row and halo."""
ROW_OTHER, ROW_OTHER_PER_RADIUS, ROW_OTHER_SINGLE = 13, 6, -4
"""Per row of outputs: the rows' places in the ring, the output's address, counters; less with a single stage."""
LOOP_ENTRY_OTHER, VECTOR_OTHER = 6, {1: 9, 2: 11, 3: 13, 4: 13}
"""With several vectors per thread: entry into their loop; and per vector, by radius, its address in the rows and in the
output, comparison, branch."""
ROW_TOLERANCE = 7
"""Instructions by which the numbers per row may differ from one compilation."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    return KernelProgram(
        name="stencil2d",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=(Role("worker", params.warps, partial(_worker, params)),),
        rings=(Ring(RING, ring_rows(params), params.tile_bytes + HALO_BYTES),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=registers(params),
    )


def ring_rows(params: Params) -> int:
    """Rows in the ring: those that are read again, and the stages."""
    return params.stages + 2 * params.radius


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: ring, an arrival barrier per row (instrumented build)."""
    return ring_rows(params) * (params.tile_bytes + HALO_BYTES + 8)


def registers(params: Params) -> int:
    """Registers per thread that the compiler takes, in allocation steps of 8."""
    if params.warps == 1:
        return REGISTERS_ONE_WARP[params.radius]
    return (REGISTERS if params.vectors == 1 else REGISTERS_LOOP)[params.radius]


def row_other(params: Params) -> int:
    """Instructions per row of outputs around the vectors, the issue of a copy left out."""
    other = ROW_OTHER + ROW_OTHER_PER_RADIUS * params.radius
    other += ROW_OTHER_SINGLE if params.stages == 1 else 0
    return other + (LOOP_ENTRY_OTHER if params.vectors > 1 else 0)


def vector_other(params: Params) -> int:
    """Instructions per vector besides the stencil, its loads and its store; none where there is one vector."""
    return VECTOR_OTHER[params.radius] if params.vectors > 1 else 0


def row_mix(params: Params) -> Mix:
    """Instructions of one warp for one row of outputs, the stores left out.

    For four neighbouring outputs: one load from each of the 2 × radius + 1 rows and one on either side of the middle
    one, all under way before the first is needed; a chain of 4 × radius + 1 FFMAs for each output and then
    ``fma_per_element`` more. The loads at the sides may be narrower, but their lanes stay 16 bytes apart.
    """
    lds = 2 * params.radius + 3
    ffma = 4 * (4 * params.radius + 1 + params.fma_per_element)
    rolls = params.fma_per_element // FMA_UNROLL if params.fma_per_element > FMA_UNROLL else 0
    # With one vector the compiler spreads the addresses of the rows among the FFMAs.
    spread = ROW_OTHER_PER_RADIUS * params.radius if params.vectors == 1 else 0
    setup = row_other(params) - spread + (ROLL_SETUP * params.vectors if rolls else 0)
    return Mix(
        ffma=float(params.vectors * ffma),
        lds=float(params.vectors * lds),
        other=float(params.vectors * (vector_other(params) + ROLL_OTHER * rolls)),
        interleaved=float(spread),
        setup=float(setup),
        ilp=4.0,
        loads_in_flight=float(lds),
        lds_bytes=VECTOR_BYTES,
    )


def _worker(params: Params, tiles: int) -> Iterator[Op]:
    behind = 2 * params.radius
    ahead = behind + params.stages - 1
    mix = row_mix(params)

    def issue(row: int) -> Iterator[Op]:
        if row < tiles + behind:
            yield _copy(params, row)
        yield CommitGroup(tile=row if row < tiles + behind else -1)

    yield Compute(PROLOGUE)
    for row in range(ahead):
        yield from issue(row)
    for tile in range(tiles):
        if params.stages > 1:
            yield WaitGroup(params.stages - 2, tile=tile)
            yield SyncThreads(tile=tile)
            yield from issue(tile + ahead)
        else:
            yield from issue(tile + ahead)
            yield WaitGroup(0, tile=tile)
            yield SyncThreads(tile=tile)
        # Of the rows that are read the newest must have arrived (an op without instructions says that it is read), and
        # the oldest is overwritten next.
        yield Compute(Mix(), tile=tile + behind, reads=RING)
        yield Compute(mix, tile=tile, reads=RING)
        yield Store(params.tile_bytes, width=VECTOR_BYTES, tile=tile)
        if params.stages == 1:
            yield SyncThreads(tile=tile)


def _copy(params: Params, row: int) -> CpAsync:
    """One row with its halo.

    The halo's sectors belong to the strips beside it, whose CTAs ask for the same row at about the same time: HBM
    gives them once. The rows above and below a band are read again much later, and count as new.
    """
    size = params.tile_bytes + HALO_BYTES
    skipped = 1.0 - HALO_BYTES / (params.warps * WARP_VECTOR_BYTES)  # of the halo's copy: two lanes of all warps
    masked = PLACEHOLDERS + skipped
    return CpAsync(RING, size, other=ISSUE_OTHER, masked=masked, l2_hit=HALO_BYTES / size, align=APART, tile=row)
