"""Products of matrices, C (m x n) = A (m x k) B (k x n), of which each CTA makes one tile of C.

What does not depend on the instruction that multiplies: what a launch reads, and what of it finds its way into L2.
"""

from __future__ import annotations

from typing import Protocol

from realkernels._parts.hopper import SMS
from realkernels._parts.l2 import AGAIN_ALL_BYTES, product_hits
from realkernels._parts.padding import resident_ctas

__all__ = ["ProductTiles", "footprint_bytes", "l2_hits"]


class ProductTiles(Protocol):
    """What the parameters of such a kernel say: CTAs along m and n, stages along k, bytes of a stage, CTAs per SM."""

    @property
    def grid_m(self) -> int: ...
    @property
    def grid_n(self) -> int: ...
    @property
    def k_tiles(self) -> int: ...
    @property
    def a_bytes(self) -> int: ...
    @property
    def b_bytes(self) -> int: ...
    @property
    def ctas_per_sm(self) -> int: ...


def footprint_bytes(params: ProductTiles) -> int:
    """Distinct bytes of A and B that CTAs find in L2 again and again; 0 if they find only what others have just read.

    Of that nothing has a longer way: a kernel of many turns along k takes no longer for each than one of few.
    """
    every = params.k_tiles * (params.grid_m * params.a_bytes + params.grid_n * params.b_bytes)
    return every if every <= AGAIN_ALL_BYTES else 0


def l2_hits(params: ProductTiles, shared_bytes: int) -> tuple[float, float]:
    """Fractions of what is read of A and of B that L2 holds because other CTAs have asked for it.

    ``shared_bytes``: shared memory that a CTA needs, which decides how many CTAs run at a time.
    """
    wave = SMS * resident_ctas(shared_bytes, params.ctas_per_sm)
    return product_hits(
        params.grid_m, params.grid_n, params.k_tiles * params.a_bytes, params.k_tiles * params.b_bytes, wave
    )
