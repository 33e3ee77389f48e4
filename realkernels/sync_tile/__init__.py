"""All warps copy a tile through registers, meet, compute on it, and meet again.

Inside one CTA nothing overlaps: a tile costs its load and its computation. What overlaps is
what other CTAs of the SM do meanwhile, so with enough of them this beats asynchronous
copies, which pay for barriers and queues. With one CTA per SM, or when registers that hold
loads in flight (``batch`` × 4 per thread) keep CTAs away, it is the slowest way.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    tile_bytes: int = param(16384, "bytes of one tile", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes")
    fma_per_element: int = param(16, "dependent FMAs on each float", ge=0, le=256)
    warps: int = param(8, "warps per CTA; all of them load and compute", Kind.WARPS, ge=2, le=16)
    batch: int = param(8, "16-byte loads in flight per thread", Kind.LOAD_BATCH, ge=1, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    grid: int = param(264, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "tiles each CTA processes", Kind.TURNS, ge=1, le=1_000_000)


TECHNIQUE = Technique(
    name="sync_tile",
    title="Synchronous tiles",
    params=Params,
    model="realkernels.sync_tile.model:build",
    launcher="realkernels.sync_tile.launch:build",
    folder=Path(__file__).parent,
    summary="Helps when many CTAs share an SM and hide each other's loads; with few, load and compute add up.",
)
