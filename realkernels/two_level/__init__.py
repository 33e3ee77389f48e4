"""Both levels at once: streams over batches, warp specialisation inside each kernel.

Per batch five steps in one stream: take memory, copy in, compute, copy out, give it back. While one batch is
copied the next one's kernel runs, and inside it a producer warp copies while consumer warps compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration; the kernel's own parameters are those of ``tma_warp_specialized``."""

    batches: int = param(8, "batches", Kind.BATCHES, ge=1, le=256)
    streams: int = param(3, "streams the batches are dealt to", Kind.STREAMS, ge=1, le=16)
    tile_bytes: int = param(16384, "bytes of one tile", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes")
    stages: int = param(3, "tiles in the ring", Kind.STAGES, ge=1, le=8)
    fma_per_element: int = param(1024, "dependent FMAs on each float", ge=0, le=4096)
    consumer_warps: int = param(4, "computing warps per CTA", Kind.CONSUMERS, ge=2, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM", Kind.PER_SM, ge=1, le=4)
    grid: int = param(264, "CTAs of a kernel", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(8, "tiles each CTA processes", Kind.TURNS, ge=1, le=100_000)
    copy_back: float = param(1.0, "part of a batch that is copied out", ge=0.0, le=1.0)


TECHNIQUE = Technique(
    name="two_level",
    title="Two-level pipeline",
    params=Params,
    model="realkernels.two_level.model:build",
    launcher="realkernels.two_level.launch:build",
    folder=Path(__file__).parent,
    summary="Streams hide the link, warp specialisation hides HBM; a link-bound batch gains nothing from the second.",
)
