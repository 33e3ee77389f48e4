"""A ring of S tiles filled by cp.async: every warp issues, waits and computes.

A tile is asked for S - 1 tiles before it is needed, so the time per tile goes from
load + compute towards the larger of the two; S = 2 is the classic double buffer, S = 1
overlaps nothing. It needs no registers for the data in flight, but every warp issues its
share of the copies and all warps meet at every tile; a further stage pays only while
latency is visible, and costs shared memory that could have held another CTA.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    tile_bytes: int = param(16384, "bytes of one tile", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes")
    stages: int = param(3, "tiles in the ring", Kind.STAGES, ge=1, le=8)
    fma_per_element: int = param(16, "dependent FMAs on each float", ge=0, le=256)
    warps: int = param(8, "warps per CTA; all of them copy and compute", Kind.WARPS, ge=2, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    grid: int = param(264, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "tiles each CTA processes", Kind.TURNS, ge=1, le=1_000_000)


TECHNIQUE = Technique(
    name="cp_async_multistage",
    title="Multistage cp.async",
    params=Params,
    model="realkernels.cp_async_multistage.model:build",
    launcher="realkernels.cp_async_multistage.launch:build",
    folder=Path(__file__).parent,
    summary="Hides the load behind the computation of earlier tiles; useless once other CTAs hide it already.",
)
