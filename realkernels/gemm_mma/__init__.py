"""A matrix product on the tensor cores by instructions that a warp waits for: cp.async into a ring, ldmatrix, mma.sync.

C (m x n) = A (m x k) B (n x k)^T in FP16 with FP32 sums, operands in rows. All warps of a CTA copy, meet, load
fragments from shared memory and multiply, each its own part of the CTA's tile of C. With one stage the tensor cores
wait for every copy and for every barrier; with two and more the next tiles are on their way. What a stage brings grows
with the sides of the tile and what it computes with their product; what a warp reads from shared memory grows with the
sides of its own part. Rows of a stage are 16 bytes longer than what they hold, so that eight of them lie in different
banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param

MOST_SUMS = 128
"""Sums of a thread."""


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    tile_m: int = param(128, "rows of C of one CTA", choices=(64, 128, 256))
    tile_n: int = param(128, "columns of C of one CTA", choices=(64, 128, 256))
    depth: int = param(32, "numbers of each row of A and of B in one stage", choices=(32, 64))
    warps: int = param(8, "warps of a CTA", Kind.WARPS, choices=(4, 8))
    stages: int = param(3, "stages of the ring", Kind.STAGES, ge=1, le=8)
    ctas_per_sm: int = param(1, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    grid_m: int = param(32, "CTAs along the rows of C, which are next to each other in the grid", ge=1, le=4096)
    grid_n: int = param(32, "CTAs along the columns of C", ge=1, le=4096)
    k_tiles: int = param(128, "stages that each CTA goes through: k / depth", ge=1, le=100_000)

    def __post_init__(self) -> None:
        if self.sums > MOST_SUMS:
            raise ValueError(
                f"tile_m {self.tile_m} times tile_n {self.tile_n} by {self.warps} warps are {self.sums} sums a thread, "
                f"which have no room: at most {MOST_SUMS}; use 8 warps or a smaller tile"
            )

    @property
    def warps_m(self) -> int:
        """Warps along the rows of a tile."""
        return 4 if self.tile_m == 256 and self.warps == 8 else 2

    @property
    def sums(self) -> int:
        """Sums of C that a thread has."""
        return self.tile_m * self.tile_n // (32 * self.warps)

    @property
    def grid(self) -> int:
        """CTAs of the launch."""
        return self.grid_m * self.grid_n

    @property
    def tiles_per_cta(self) -> int:
        """Stages that a CTA goes through."""
        return self.k_tiles

    @property
    def a_bytes(self) -> int:
        """Bytes of A in one stage."""
        return 2 * self.depth * self.tile_m

    @property
    def b_bytes(self) -> int:
        """Bytes of B in one stage."""
        return 2 * self.depth * self.tile_n

    @property
    def tile_bytes(self) -> int:
        """Bytes that one stage brings."""
        return self.a_bytes + self.b_bytes


TECHNIQUE = Technique(
    name="gemm_mma",
    title="Matrix product by mma.sync",
    params=Params,
    model="realkernels.gemm_mma.model:build",
    launcher="realkernels.gemm_mma.launch:build",
    folder=Path(__file__).parent,
    summary="Two stages hide copies; mma.sync and ldmatrix between barriers are what is left.",
)
