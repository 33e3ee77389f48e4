"""Loader, compute, storer: three roles on tiles N + 1, N and N - 1 at the same time.

One warp asks for bulk copies into an input ring, the computing warps read a stage of it and
write a stage of an output ring, and one warp asks for bulk copies out of that. Two pipelines meet
in the computing warps: with one input stage the loader waits until they have read it, with
one output stage they wait until it has been stored; two of each let all three work at once.
It pays where a tile goes out as well as in. A third stage rarely does, and every stage
is shared memory that could have held another CTA. Whichever of a load and a store asks first passes
first: release the input before the output is announced, or the next load waits for the whole store.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    tile_bytes: int = param(
        16384, "bytes of one tile, in and out", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes"
    )
    input_stages: int = param(2, "tiles in the input ring", Kind.INPUT_STAGES, ge=1, le=8)
    output_stages: int = param(2, "tiles in the output ring", Kind.OUTPUT_STAGES, ge=1, le=8)
    fma_per_element: int = param(16, "dependent FMAs on each float", ge=0, le=256)
    compute_warps: int = param(4, "computing warps per CTA, besides loader and storer", Kind.COMPUTING, ge=2, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    grid: int = param(264, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "tiles each CTA processes", Kind.TURNS, ge=1, le=1_000_000)


TECHNIQUE = Technique(
    name="three_role",
    title="Loader, compute, storer",
    params=Params,
    model="realkernels.three_role.model:build",
    launcher="realkernels.three_role.launch:build",
    folder=Path(__file__).parent,
    summary="Overlaps reading, computing and writing of tiles; needs two stages on each side, and little more.",
)
