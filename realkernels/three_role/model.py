"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gpusim.program import (
    Acquire,
    BulkWait,
    Compute,
    KernelProgram,
    Mix,
    Op,
    ProducerCommit,
    Release,
    Ring,
    Role,
    StoreShared,
    SyncThreads,
    TmaLoad,
    TmaStore,
    WaitFull,
)
from realkernels._parts.tile_loop import PROLOGUE, VECTOR_BYTES, Share, shares, tile_mix
from realkernels.three_role import Params

REGISTERS = 32
"""Upper bound on the registers per thread, over all parameters."""
INPUT, OUTPUT = "input", "output"

OUTPUT_ADDRESS = 1
"""Per vector: the next address in the output stage."""
COMPUTE_OTHER = 19
STAGES_OTHER = 6
"""Per tile of a computing warp: barrier addresses, entry into the vector loop, the branches of two waits;
for each ring of more than one stage also its stage and parity."""
COMPUTE_AHEAD = STAGES_AHEAD = 4
"""How many of them are done before the first wait returns: behind the last arrival, or while a barrier is looked at."""
AHEAD_CYCLES = 25
"""What these take a warp that is alone, by the compiler's stall counts: those done while a barrier is looked at take
none."""
FENCE = 2
"""Per tile: the memory barrier and the proxy fence between st.shared and the bulk store."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    parts = shares(params.tile_bytes, params.compute_warps)
    return KernelProgram(
        name="three_role",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta,
        roles=(
            Role("loader", 1, partial(_loader, params)),
            Role("storer", 1, partial(_storer, params)),
            *(Role(f"compute{part.suffix}", part.warps, partial(_compute, params, part)) for part in parts),
        ),
        rings=(
            Ring(INPUT, params.input_stages, params.tile_bytes, empty_arrivals=params.compute_warps),
            Ring(OUTPUT, params.output_stages, params.tile_bytes, full_arrivals=params.compute_warps),
        ),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=REGISTERS,
    )


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: both rings, a full and an empty barrier per stage."""
    stages = params.input_stages + params.output_stages
    return stages * (params.tile_bytes + 16)


def compute_other(params: Params) -> int:
    """Instructions per tile of a computing warp around its vector loop, barrier operations and `FENCE` left out."""
    return COMPUTE_OTHER + STAGES_OTHER * ((params.input_stages > 1) + (params.output_stages > 1))


def compute_ahead(params: Params) -> int:
    """How many of `compute_other` are done before the first wait of a tile returns."""
    return COMPUTE_AHEAD + STAGES_AHEAD * ((params.input_stages > 1) + (params.output_stages > 1))


def transform_mix(params: Params, iterations: int) -> Mix:
    """Instructions of one warp that transforms ``iterations`` vectors per lane of one tile: no sums, but stores."""
    others = compute_other(params) - compute_ahead(params) + FENCE
    summed = tile_mix(iterations, params.fma_per_element, others)
    return Mix(
        ffma=4.0 * iterations * params.fma_per_element,
        lds=summed.lds,
        sts=float(iterations),
        other=summed.other + OUTPUT_ADDRESS * iterations,
        setup=summed.setup,
        ilp=summed.ilp,
        loads_in_flight=summed.loads_in_flight,
        lds_bytes=VECTOR_BYTES,
        sts_bytes=VECTOR_BYTES,
    )


def _loader(params: Params, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    for tile in range(tiles):
        yield Acquire(INPUT, tile=tile)
        yield TmaLoad(INPUT, params.tile_bytes, tile=tile)


def _compute(params: Params, part: Share, tiles: int) -> Iterator[Op]:
    mix = replace(transform_mix(params, part.iterations), divergent_branches=float(part.parted))
    reads = INPUT if part.iterations else None
    yield Compute(PROLOGUE)
    yield SyncThreads()
    for tile in range(tiles):
        yield Compute(Mix(setup=compute_ahead(params), alone=AHEAD_CYCLES), tile=tile)
        yield WaitFull(INPUT, tile=tile)
        yield Acquire(OUTPUT, tile=tile)
        if part.iterations:
            # The stores run inside the loop and are counted there; this says whose stage they fill.
            yield StoreShared(0, ring=OUTPUT, tile=tile)
        yield Compute(mix, tile=tile, reads=reads)
        yield Release(INPUT, tile=tile)
        yield ProducerCommit(OUTPUT, tile=tile)


def _storer(params: Params, tiles: int) -> Iterator[Op]:
    yield Compute(PROLOGUE)
    yield SyncThreads()
    for tile in range(tiles):
        yield WaitFull(OUTPUT, tile=tile)
        yield TmaStore(OUTPUT, params.tile_bytes, tile=tile)
        yield BulkWait(0, tile=tile)
        yield Release(OUTPUT, tile=tile)
