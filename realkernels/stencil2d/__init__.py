"""A 2-D stencil whose rows stream through a ring that is read while newer rows arrive.

Each CTA owns a strip of columns and walks down its rows. One row of outputs needs 2 × radius + 1 rows of inputs, so
the ring holds those and asks for further ones by cp.async: every row is fetched once and read 2 × radius + 1 times.
All warps copy, wait for their own copies, meet and compute, once per row. cp.async suits it better than bulk copies: a
row and its halo are two pieces of different alignment, which lanes fetch without a producer
warp, and all warps have to meet at every row anyway, since each reads columns that others have copied.

``stages`` = 1 fetches a row when it is needed, so nothing overlaps; each further stage asks for one row earlier. It
pays while the latency of a row is visible, that is with few CTAs per SM and short rows, and as long as there is
something to compute meanwhile; once memory is saturated it only costs shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param

VECTOR_FLOATS, MOST_VECTORS = 128, 4
"""Floats that a warp treats at once, and how many times that in one row."""


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    tile_width: int = param(1024, "columns of a strip, 128 per warp or up to four times that", ge=128, le=8192)
    radius: int = param(1, "neighbours of an output in each of the four directions", ge=1, le=4)
    stages: int = param(4, "rows in the ring besides the 2 × radius that are read again", Kind.STAGES, ge=1, le=8)
    fma_per_element: int = param(0, "dependent FMAs on each output, besides the stencil's 4 × radius + 1", ge=0, le=256)
    warps: int = param(8, "warps per CTA; all of them copy and compute", Kind.WARPS, ge=1, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=8)
    strips: int = param(12, "strips side by side, which is the field's width", ge=1, le=1024)
    grid: int = param(264, "CTAs in the grid, a multiple of the strips", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "rows of outputs of each CTA", Kind.TURNS, ge=1, le=1_000_000)

    def __post_init__(self) -> None:
        row = VECTOR_FLOATS * self.warps
        if self.tile_width % row or self.tile_width > MOST_VECTORS * row:
            raise ValueError(
                f"{self.tile_width} columns cannot be dealt evenly to {self.warps} warps: use a multiple of {row} up "
                f"to {MOST_VECTORS * row}, or other warps"
            )
        if self.grid % self.strips:
            raise ValueError(
                f"{self.grid} CTAs are not a whole number of bands of {self.strips} strips: use "
                f"{max(round(self.grid / self.strips), 1) * self.strips}"
            )

    @property
    def width(self) -> int:
        """Columns of the field."""
        return self.strips * self.tile_width

    @property
    def height(self) -> int:
        """Rows of the field."""
        return self.grid // self.strips * self.tiles_per_cta

    @property
    def tile_bytes(self) -> int:
        """Bytes of one row of a strip."""
        return 4 * self.tile_width

    @property
    def vectors(self) -> int:
        """Vectors of 16 bytes that each thread treats in one row."""
        return self.tile_width // (VECTOR_FLOATS * self.warps)


TECHNIQUE = Technique(
    name="stencil2d",
    title="2-D stencil through a ring of rows",
    params=Params,
    model="realkernels.stencil2d.model:build",
    launcher="realkernels.stencil2d.launch:build",
    folder=Path(__file__).parent,
    summary="Hides the load of later rows behind the computation of this one; useless once memory is saturated anyway.",
)
