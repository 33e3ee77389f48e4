"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from realkernels._harness.product_design import ProductDesign
from realkernels.gemm import TECHNIQUE, Params

SQUARE = Params()


class GemmDesign(ProductDesign):
    """Tiles of all widths, CTAs that share an SM, products under way or not."""

    def candidate(self, u: Sequence[float], largest: int) -> Params:  # noqa: ARG002 - tiles are not sized in bytes
        """The configuration at ``u`` of the unit cube, sized by its run time. Raises ValueError if there is none."""
        one = Params(
            tile_n=(64, 128, 128, 192, 256, 256)[int(6 * u[0])],
            warpgroups=1 + int(3 * u[1]),
            stages=1 + int(8 * u[2]),
            pending=int(2 * u[3]),
            ctas_per_sm=1 + int(3 * u[4]),
            grid_m=1 + int(40 * u[6]),
            grid_n=1,
            k_tiles=1,
        )
        if one.pending and one.stages == 1:
            raise ValueError("the only stage would be released when the next one is there")
        return self.sized(one, (u[5], u[7]))

    def groups(self) -> list[list[Params]]:
        """Stages of square products, with and without products under way; sides of tiles; CTAs that share an SM."""
        return [
            [replace(SQUARE, stages=stages) for stages in (2, 3, 4, 6)],
            [replace(SQUARE, stages=stages, pending=0) for stages in (1, 2, 3, 4, 6)],
            [replace(SQUARE, tile_n=256, grid_n=16, stages=stages) for stages in (2, 3, 4)],
            [replace(SQUARE, tile_n=64, grid_n=64, stages=stages, pending=0) for stages in (1, 2, 4, 8)],
            [replace(SQUARE, warpgroups=1, grid_m=64, ctas_per_sm=2, stages=stages) for stages in (2, 3, 4)],
        ]

    def timelines(self) -> list[Params]:
        """One wave of CTAs: few stages and enough, one or two of them on an SM."""
        one = replace(SQUARE, grid_m=12, grid_n=11, k_tiles=48)
        return [
            replace(one, stages=2),
            one,
            replace(one, stages=1, pending=0),
            replace(one, stages=4, pending=0),
            replace(one, tile_n=256),
            replace(one, warpgroups=1, grid_n=22, ctas_per_sm=2),
        ]


DESIGN = GemmDesign(TECHNIQUE, flop_per_s=3.5e14, spread=48, traced=6)
