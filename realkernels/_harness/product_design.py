"""Which products of matrices to measure: configurations that are sized by the length of their inner loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from realkernels._harness.design import LAUNCH_S, Design
from realkernels._harness.spread import between

__all__ = ["ProductDesign"]

BYTES_PER_S = 5e12
"""From L2; only to choose sizes with, no prediction uses it."""
LARGEST = 1 << 30
"""Bytes of an operand, or of the result."""
CTAS, RUN_S = (60, 1800), (40e-6, 2e-3)
"""Fewest and most CTAs, and the shortest and the longest run, between which points are spread."""
FEWEST_TURNS = 4


@dataclass(frozen=True)
class ProductDesign(Design):
    """Of ``grid_m`` × ``grid_n`` tiles of a result, each a sum over ``k_tiles`` tiles of ``depth`` numbers.

    ``flop_per_s``: roughly the rate of the products; only to choose sizes with.
    """

    flop_per_s: float = 5e14

    def moved_bytes(self, params: Any) -> int:
        """Bytes read, from wherever, and written."""
        return params.grid * (params.k_tiles * params.tile_bytes + 4 * params.tile_m * params.tile_n)

    def estimate_s(self, params: Any) -> float:
        """Roughly how long a run takes, in seconds: products, or bytes from L2."""
        flop = 2 * params.grid * params.tile_m * params.tile_n * params.k_tiles * params.depth
        return LAUNCH_S + max(flop / self.flop_per_s, self.moved_bytes(params) / BYTES_PER_S)

    def sized(self, one: Any, u: Sequence[float]) -> Any:
        """``one`` turn of a product, as one of `CTAS` with as many turns as take `RUN_S`, by ``u``.

        Raises ValueError if an operand would be too large.
        """
        one = replace(one, grid_n=max(1, round(between(*CTAS, u[0]) / one.grid_m)))
        turns = 1000
        of_turns_s = self.estimate_s(replace(one, k_tiles=1 + turns)) - self.estimate_s(one)
        k_tiles = round(turns * (between(*RUN_S, u[1]) - LAUNCH_S) / of_turns_s)
        sized = replace(one, k_tiles=max(FEWEST_TURNS, k_tiles))
        if sized.k_tiles * max(sized.grid_m * sized.a_bytes, sized.grid_n * sized.b_bytes) > LARGEST:
            raise ValueError("too large")
        return sized
