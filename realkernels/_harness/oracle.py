"""What a tile kernel must compute, in NumPy float64."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["EPS", "affine", "compare", "compare_tiles", "sample", "tolerance"]

EPS = 2.0**-24
"""Relative rounding error of one float32 operation."""
SAMPLE_BYTES = 48 << 20


def affine(x: np.ndarray, a: np.float32, b: np.float32, times: int) -> np.ndarray:
    """``x -> a x + b`` applied ``times`` times, in closed form, float64."""
    power = float(a) ** times
    return x * power + float(b) * (1.0 - power) / (1.0 - float(a))


def tolerance(additions: int, fmas: int) -> float:
    """Relative tolerance of a float32 sum of ``additions`` positive terms.

    Rounding errors of the additions are as often up as down, so that they grow with the root
    of their number; eight of these are allowed. Each FMA of the chain may add its own.
    """
    return (8.0 * np.sqrt(additions) + fmas + 16.0) * EPS


def expected(tiles: np.ndarray, warps: int, fmas: int, a: np.float32, b: np.float32) -> np.ndarray:
    """Partial sums of one CTA's warps; ``tiles`` is float32 [tiles, floats of a tile]."""
    vectors = tiles.shape[1] // 4
    per_vector = affine(tiles.astype(np.float64), a, b, fmas).reshape(len(tiles), vectors, 4).sum(axis=(0, 2))
    owner = np.arange(vectors) % (32 * warps) // 32
    return np.bincount(owner, weights=per_vector, minlength=warps)


def compare(data: Any, out: Any, plan: Any, a: np.float32, b: np.float32, among: int = 1, whole: bool = False) -> float:
    """Largest error over a sample of CTAs, in units of the tolerance.

    ``data``: the kernel's input and ``out``: its output [grid * warps], CuPy arrays. The first
    and the last CTA are always in the sample; ``among`` CTAs in a row have the same tiles. ``whole``: it is open which
    warp adds up what, so that only their sum counts. Raises AssertionError beyond the tolerance, and for any CTA that
    left a value out.
    """
    params, warps = plan.params, plan.warps
    floats = params.tile_bytes // 4
    table = data.reshape(params.tiles_per_cta, params.grid // among, floats)
    result = out.get().reshape(params.grid, warps).astype(np.float64)
    where = f"{plan.technique.name} {params}"
    if not np.isfinite(result).all():
        raise AssertionError(f"{where}: {int((~np.isfinite(result)).sum())} partial sums were never written")
    vectors = floats // 4
    additions = params.tiles_per_cta * -(-vectors // (32 * warps))
    limit = tolerance(additions, params.fma_per_element)
    worst = 0.0
    for cta in sample(params.grid, params.tiles_per_cta * params.tile_bytes):
        wanted, got = expected(table[:, cta // among, :].get(), warps, params.fma_per_element, a, b), result[cta]
        if whole:
            wanted, got = wanted.sum(keepdims=True), got.sum(keepdims=True)
        error = np.abs(got - wanted) / np.maximum(np.abs(wanted), 1e-30)
        error[wanted == 0] = np.abs(got[wanted == 0])
        worst = max(worst, float(error.max()) / limit)
        if worst > 1.0:
            raise AssertionError(
                f"{where}: CTA {cta} is off by {error.max():.3g} (relative), allowed is {limit:.3g}; "
                f"warp {int(error.argmax())} gave {got[error.argmax()]!r}"
            )
    return worst


def compare_tiles(data: Any, out: Any, plan: Any, a: np.float32, b: np.float32) -> float:
    """As `compare`, for a kernel that writes every tile, transformed, where it lay in the input."""
    params = plan.params
    shape = params.tiles_per_cta, params.grid, params.tile_bytes // 4
    table, result = data.reshape(shape), out.reshape(shape)
    where = f"{plan.technique.name} {params}"
    if missing := int((~np.isfinite(result)).sum()):
        raise AssertionError(f"{where}: {missing} elements were never written")
    limit = tolerance(1, params.fma_per_element)
    worst = 0.0
    for cta in sample(params.grid, 2 * params.tiles_per_cta * params.tile_bytes):
        wanted = affine(table[:, cta, :].get().astype(np.float64), a, b, params.fma_per_element)
        error = np.abs(result[:, cta, :].get() - wanted) / np.maximum(np.abs(wanted), 1e-30)
        error[wanted == 0] = 0.0
        worst = max(worst, float(error.max()) / limit)
        if worst > 1.0:
            raise AssertionError(f"{where}: CTA {cta} is off by {error.max():.3g} (relative), allowed is {limit:.3g}")
    return worst


def sample(grid: int, bytes_per_cta: int) -> list[int]:
    """CTAs to look at: the first, the last, and as many others as `SAMPLE_BYTES` allow."""
    extra = max(0, min(3, SAMPLE_BYTES // max(bytes_per_cta, 1) - 2))
    drawn = np.random.default_rng(grid).integers(0, grid, size=extra)
    return sorted({0, grid - 1, *(int(cta) for cta in drawn)})
