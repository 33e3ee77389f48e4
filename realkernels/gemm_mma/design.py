"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from realkernels._harness.product_design import ProductDesign
from realkernels.gemm_mma import TECHNIQUE, Params

TILES = ((64, 64), (128, 128), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128), (64, 256))

SQUARE = Params()


class GemmMmaDesign(ProductDesign):
    """Tiles of all shapes and depths, CTAs that share an SM."""

    def candidate(self, u: Sequence[float], largest: int) -> Params:  # noqa: ARG002 - tiles are not sized in bytes
        """The configuration at ``u`` of the unit cube, sized by its run time. Raises ValueError if there is none."""
        tile_m, tile_n = TILES[int(len(TILES) * u[0])]
        one = Params(
            tile_m=tile_m,
            tile_n=tile_n,
            depth=(32, 64)[int(2 * u[3])],
            warps=(4, 8)[int(2 * u[1])],
            stages=1 + int(6 * u[2]),
            ctas_per_sm=1 + int(3 * u[4]),
            grid_m=1 + int(40 * u[6]),
            grid_n=1,
            k_tiles=1,
        )
        return self.sized(one, (u[5], u[7]))

    def groups(self) -> list[list[Params]]:
        """Stages of square products: sides of tiles, depths, warps, CTAs that share an SM."""
        return [
            [replace(SQUARE, stages=stages) for stages in (1, 2, 3, 4, 6)],
            [replace(SQUARE, depth=64, k_tiles=64, stages=stages) for stages in (1, 2, 3, 4)],
            [replace(SQUARE, warps=4, stages=stages) for stages in (2, 3, 4)],
            [replace(SQUARE, tile_n=256, grid_n=16, stages=stages) for stages in (2, 3, 4)],
            [
                replace(SQUARE, tile_m=64, tile_n=64, warps=4, grid_m=64, grid_n=64, ctas_per_sm=3, stages=s)
                for s in (2, 3, 5)
            ],
            [replace(SQUARE, ctas_per_sm=2, stages=stages) for stages in (1, 2, 3, 4)],
        ]

    def timelines(self) -> list[Params]:
        """One wave of CTAs: one stage and more, one or two of them on an SM."""
        one = replace(SQUARE, grid_m=12, grid_n=11, k_tiles=64)
        return [
            replace(one, stages=1),
            replace(one, stages=2),
            replace(one, stages=4),
            replace(one, depth=64, k_tiles=32),
            replace(one, tile_m=64, tile_n=64, warps=4, grid_m=24, ctas_per_sm=2),
            replace(one, tile_m=64, warps=4, stages=1, grid_m=24, ctas_per_sm=2),
        ]


DESIGN = GemmMmaDesign(TECHNIQUE, spread=60, traced=6)
