"""What the convolution must compute, in NumPy float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from realkernels._harness.oracle import EPS

WEIGHT_FLOATS = 32
"""Floats of the input before the signal; the first of them are the weights."""
TILES = 64
"""Tiles that are checked, the first, the second and the last two always."""


def expected(signal: np.ndarray, weights: np.ndarray, first: int, count: int, *, true_halo: bool) -> np.ndarray:
    """Outputs ``first`` … of a tile of ``count`` floats.

    ``signal``: float64, the whole of it or as much as is needed: indices are clamped to its ends with a true halo, to
    the tile's without.
    """
    radius = len(weights) // 2
    at = np.arange(first - radius, first + count + radius)
    low, high = (0, len(signal) - 1) if true_halo else (first, first + count - 1)
    return np.convolve(signal[np.clip(at, low, high)], weights[::-1], mode="valid")


def compare(data: Any, out: Any, plan: Any, _a: Any = None, _b: Any = None) -> float:
    """Largest error over a sample of tiles, in units of the tolerance.

    ``data``: weights and signal, ``out``: the outputs, CuPy arrays. Raises AssertionError beyond the tolerance, and
    for any output that was never written.
    """
    params = plan.params
    where = f"{plan.technique.name} {params}"
    if missing := int((~np.isfinite(out)).sum()):
        raise AssertionError(f"{where}: {missing} outputs were never written")
    weights = data[: params.kernel_points].get().astype(np.float64)
    signal = data[WEIGHT_FLOATS:]
    limit = (params.kernel_points + 8.0) * EPS  # all terms are positive
    worst = 0.0
    for tile in sample(params.grid):
        # The tile and its neighbours; clamping to their ends is clamping to the signal's where it matters.
        begin, end = max(tile - 1, 0) * params.tile, min(tile + 2, params.grid) * params.tile
        near = signal[begin:end].get().astype(np.float64)
        first = tile * params.tile
        wanted = expected(near, weights, first - begin, params.tile, true_halo=params.halo == "true")
        error = np.abs(out[first : first + params.tile].get() - wanted) / np.maximum(np.abs(wanted), 1e-30)
        worst = max(worst, float(error.max()) / limit)
        if worst > 1.0:
            raise AssertionError(
                f"{where}: output {first + int(error.argmax())} is off by {error.max():.3g} (relative), allowed is "
                f"{limit:.3g}"
            )
    return worst


def sample(grid: int) -> list[int]:
    """Tiles to check: both ends of the signal, and some between."""
    drawn = np.random.default_rng(grid).integers(0, grid, size=TILES)
    return sorted({0, min(1, grid - 1), max(grid - 2, 0), grid - 1, *(int(tile) for tile in drawn)})
