"""One producer warp asks for bulk copies (TMA) into a ring of mbarriers; the others only compute.

Consumers spend no instruction on copying and never meet each other: each waits for the
stage it needs and hands it back. The producer runs ahead by as many stages as the ring has,
so two or three hide the load where computing takes as long as loading; more only help when
the times of tiles vary. With small tiles the hand-over of a stage between producer and
consumers is the pipeline; one CTA's single producer then falls behind plain loads.
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
    consumer_warps: int = param(4, "computing warps per CTA, besides one producer warp", Kind.CONSUMERS, ge=2, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    grid: int = param(264, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "tiles each CTA processes", Kind.TURNS, ge=1, le=1_000_000)


TECHNIQUE = Technique(
    name="tma_warp_specialized",
    title="Warp-specialised TMA",
    params=Params,
    model="realkernels.tma_warp_specialized.model:build",
    launcher="realkernels.tma_warp_specialized.launch:build",
    folder=Path(__file__).parent,
    summary="Hides loads without costing the computing warps an instruction; small tiles pay for the hand-over.",
)
