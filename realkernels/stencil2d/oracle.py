"""What the stencil must compute, in NumPy float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from realkernels._harness.oracle import EPS, affine

MARGIN = 32
"""Floats left and right of the field; above and below it are as many rows as the radius says."""
MOST_ROWS = 128
"""Of a CTA that is checked: so many of its first and of its last rows."""


def input_floats(params: Any) -> int:
    """Floats of the field with its margin."""
    return (params.height + 2 * params.radius) * (params.width + 2 * MARGIN)


def weights(radius: int) -> np.ndarray:
    """The centre's, then left, right, above and below at distance 1, and so on; float32 as in the kernel."""
    points = 4 * radius + 1
    return (np.arange(1, points + 1, dtype=np.float32) / np.float32(points * (points + 1) // 2)).astype(np.float64)


def star(field: np.ndarray, radius: int) -> np.ndarray:
    """The stencil inside ``field`` (float64), ``radius`` rows and columns narrower on every side."""
    rows, columns = (extent - 2 * radius for extent in field.shape)

    def moved(down: int, right: int) -> np.ndarray:
        return field[radius + down :, radius + right :][:rows, :columns]

    weight = weights(radius)
    result = weight[0] * moved(0, 0)
    for k in range(1, radius + 1):
        for i, (down, right) in enumerate([(0, -k), (0, k), (-k, 0), (k, 0)]):
            result += weight[4 * k - 3 + i] * moved(down, right)
    return result


def compare(data: Any, out: Any, plan: Any, a: np.float32, b: np.float32) -> float:
    """Largest error over a sample of CTAs, in units of the tolerance.

    ``data``: the field with its margin, ``out``: the outputs, CuPy arrays. The CTAs at the field's corners are always
    in the sample. Raises AssertionError beyond the tolerance, and for any output that was never written.
    """
    params = plan.params
    radius, width = params.radius, params.tile_width
    field = data.reshape(params.height + 2 * radius, params.width + 2 * MARGIN)
    result = out.reshape(params.height, params.width)
    where = f"{plan.technique.name} {params}"
    if missing := int((~np.isfinite(result)).sum()):
        raise AssertionError(f"{where}: {missing} outputs were never written")
    limit = (8.0 * radius + params.fma_per_element + 16.0) * EPS  # all terms are positive
    worst = 0.0
    for cta in sample(params.grid, params.strips):
        band, strip = divmod(cta, params.strips)
        column = strip * width
        for top, count in stretches(band * params.tiles_per_cta, params.tiles_per_cta):
            near = field[top : top + count + 2 * radius, MARGIN + column - radius : MARGIN + column + width + radius]
            wanted = affine(star(near.get().astype(np.float64), radius), a, b, params.fma_per_element)
            error = np.abs(result[top : top + count, column : column + width].get() - wanted) / np.abs(wanted)
            worst = max(worst, float(error.max()) / limit)
            if worst > 1.0:
                row, at = np.unravel_index(int(error.argmax()), error.shape)
                raise AssertionError(
                    f"{where}: CTA {cta} is off by {error.max():.3g} (relative), allowed is {limit:.3g}; the worst is "
                    f"row {top + row}, column {column + at}"
                )
    return worst


def stretches(first: int, rows: int) -> list[tuple[int, int]]:
    """(first row, rows) of the parts of a CTA that are checked: all of it, or its beginning and its end."""
    if rows <= 2 * MOST_ROWS:
        return [(first, rows)]
    return [(first, MOST_ROWS), (first + rows - MOST_ROWS, MOST_ROWS)]


def sample(grid: int, strips: int) -> list[int]:
    """CTAs to check: the field's corners and some between."""
    drawn = np.random.default_rng(grid).integers(0, grid, size=4)
    return sorted({0, strips - 1, grid - strips, grid - 1, *(int(cta) for cta in drawn)})
