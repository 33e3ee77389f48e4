"""What the product must be, in NumPy float64."""

from __future__ import annotations

from typing import Any

import numpy as np

LIMIT = 2.0**-12
"""Relative error, at least."""
CUT, TERMS = 2.0**-23, 8
"""What a sum in FP32 may lose for so many terms more: all are positive, and tensor cores cut what they add up."""
CTAS = 3
"""Tiles of the result that are checked, the first and the last always."""


def compare(data: Any, out: Any, plan: Any, _a: Any = None, _b: Any = None) -> float:
    """Largest relative error over a sample of tiles of C, in units of the tolerance.

    ``data``: float16 of A and B in rows, ``out``: C, float32, CuPy arrays. Raises AssertionError beyond the tolerance,
    and for any element that was never written.
    """
    params = plan.params
    where = f"{plan.technique.name} {params}"
    if missing := int((~np.isfinite(out)).sum()):
        raise AssertionError(f"{where}: {missing} elements were never written")
    rows, columns, k = params.grid_m * params.tile_m, params.grid_n * params.tile_n, params.k_tiles * params.depth
    numbers = data.view(np.float16).reshape(rows + columns, k)
    result = out.reshape(rows, columns)
    limit = max(LIMIT, k / TERMS * CUT)
    worst = 0.0
    for cta in sorted({0, params.grid - 1, *np.random.default_rng(params.grid).integers(0, params.grid, CTAS - 2)}):
        row, column = int(cta) % params.grid_m * params.tile_m, int(cta) // params.grid_m * params.tile_n
        a, b = (
            numbers[first : first + size].get().astype(np.float64)
            for first, size in ((row, params.tile_m), (rows + column, params.tile_n))
        )
        wanted = a @ b.T
        got = result[row : row + params.tile_m, column : column + params.tile_n].get()
        error = float((np.abs(got - wanted) / wanted).max())
        worst = max(worst, error / limit)
        if worst > 1.0:
            raise AssertionError(f"{where}: CTA {cta} is off by {error:.3g} (relative), allowed is {limit:.3g}")
    return worst
