"""What the product must be, in NumPy float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from realkernels.gemm import DEPTH

VECTOR, CORE_ROWS = 4, 8
"""Floats of a row of a core matrix of wgmma, and rows of one."""
TF32 = 2.0**-10
"""Relative error of a number whose last 13 bits are cut off."""
CTAS = 3
"""Tiles of the result that are checked, the first and the last always."""


def unpacked(tiles: np.ndarray, rows: int) -> np.ndarray:
    """Packed ``tiles`` of an operand, float32 [tiles, floats of a tile], as [rows, k]."""
    cores = tiles.reshape(len(tiles), DEPTH // VECTOR, rows // CORE_ROWS, CORE_ROWS, VECTOR)
    return cores.transpose(2, 3, 0, 1, 4).reshape(rows, len(tiles) * DEPTH)


def cut(numbers: np.ndarray) -> np.ndarray:
    """``numbers``, float32, as TF32 has them."""
    return (np.ascontiguousarray(numbers).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def compare(data: Any, out: Any, plan: Any, _a: Any = None, _b: Any = None) -> float:
    """Largest relative error over a sample of tiles of C, in units of the tolerance.

    ``data``: A and B packed, ``out``: C, CuPy arrays. Raises AssertionError beyond the tolerance, and for any element
    that was never written.
    """
    params = plan.params
    where = f"{plan.technique.name} {params}"
    if missing := int((~np.isfinite(out)).sum()):
        raise AssertionError(f"{where}: {missing} elements were never written")
    a_floats, b_floats = params.k_tiles * params.a_bytes // 4, params.k_tiles * params.b_bytes // 4
    result = out.reshape(params.grid_m * params.tile_m, params.grid_n * params.tile_n)
    # All terms are positive. What the tensor cores add up they may cut, too.
    limit = TF32
    worst = 0.0
    for cta in sorted({0, params.grid - 1, *np.random.default_rng(params.grid).integers(0, params.grid, CTAS - 2)}):
        row, column = int(cta) % params.grid_m, int(cta) // params.grid_m
        a = unpacked(data[row * a_floats : (row + 1) * a_floats].get().reshape(params.k_tiles, -1), params.tile_m)
        b_first = params.grid_m * a_floats + column * b_floats
        b = unpacked(data[b_first : b_first + b_floats].get().reshape(params.k_tiles, -1), params.tile_n)
        wanted = cut(a).astype(np.float64) @ cut(b).astype(np.float64).T
        rows = slice(row * params.tile_m, (row + 1) * params.tile_m)
        got = result[rows, column * params.tile_n : (column + 1) * params.tile_n].get()
        error = float((np.abs(got - wanted) / wanted).max())
        worst = max(worst, error / limit)
        if worst > 1.0:
            raise AssertionError(f"{where}: CTA {cta} is off by {error:.3g} (relative), allowed is {limit:.3g}")
    return worst
