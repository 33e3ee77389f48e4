"""A matrix product on the tensor cores: one producer warp asks for bulk copies, warpgroups multiply with wgmma.

C (m x n) = A (m x k) B (k x n) in TF32 with FP32 sums. Each CTA makes a tile of C; a stage of its ring holds 32 numbers
of each of A's rows and of B's columns. A warpgroup asks for four products per stage and waits for them at once, or
(`pending`) a stage later, so that the tensor cores always have something to do; the stage is then released a turn
later, too, and the ring is worth one stage less. What a tile brings grows with its sides and what it computes with
their product: small tiles wait for L2. Operands lie packed tile by tile, as the core matrices of wgmma without a
swizzle want them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param

DEPTH = 32
"""Floats of a row of a tile: four wgmma of 32 bytes."""
ROWS_PER_WARPGROUP = 64


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    tile_n: int = param(128, "columns of C of one CTA", ge=64, le=256, multiple_of=64)
    warpgroups: int = param(2, "multiplying warpgroups per CTA, 64 rows of C each", ge=1, le=3)
    stages: int = param(4, "stages of the ring", Kind.STAGES, ge=1, le=8)
    pending: int = param(1, "products of so many stages may be under way when the next ones are asked for", ge=0, le=1)
    ctas_per_sm: int = param(1, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=3)
    grid_m: int = param(32, "CTAs along the rows of C, which are next to each other in the grid", ge=1, le=4096)
    grid_n: int = param(32, "CTAs along the columns of C", ge=1, le=4096)
    k_tiles: int = param(64, "stages that each CTA goes through: k / 32", ge=1, le=100_000)

    @property
    def tile_m(self) -> int:
        """Rows of C of one CTA."""
        return ROWS_PER_WARPGROUP * self.warpgroups

    @property
    def depth(self) -> int:
        """Numbers of each row of A and of B in one stage."""
        return DEPTH

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
        return 4 * DEPTH * self.tile_m

    @property
    def b_bytes(self) -> int:
        """Bytes of B in one stage."""
        return 4 * DEPTH * self.tile_n

    @property
    def tile_bytes(self) -> int:
        """Bytes of one stage."""
        return self.a_bytes + self.b_bytes


TECHNIQUE = Technique(
    name="gemm",
    title="Matrix product on tensor cores",
    params=Params,
    model="realkernels.gemm.model:build",
    launcher="realkernels.gemm.launch:build",
    folder=Path(__file__).parent,
    summary="Tensor cores starve without stages; with them, small tiles wait for L2.",
)
