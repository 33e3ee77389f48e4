"""What attention must be, in NumPy float64."""

from __future__ import annotations

from typing import Any

import numpy as np

VECTOR, CORE_ROWS = 8, 8
"""Halves of a row of a core matrix of wgmma, and rows of one."""
LIMIT = 2.0**-9
"""Relative error: probabilities are cut to FP16, and what the tensor cores add up they may cut, too."""
CTAS = 3
"""Tiles of the result that are checked, the first and the last always."""


def unpacked(tiles: np.ndarray, rows: int, depth: int) -> np.ndarray:
    """Packed ``tiles``, float16 [tiles, rows * depth], as [tiles, rows, depth]."""
    cores = tiles.reshape(len(tiles), depth // VECTOR, rows // CORE_ROWS, CORE_ROWS, VECTOR)
    return cores.transpose(0, 2, 3, 1, 4).reshape(len(tiles), rows, depth)


def attention(queries: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """softmax(``queries`` ``keys``^T / sqrt(head)) ``values`` in float64; all [rows, head]."""
    scores = queries.astype(np.float64) @ keys.astype(np.float64).T / np.sqrt(queries.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ values.astype(np.float64) / weights.sum(axis=1, keepdims=True)


def compare(data: Any, out: Any, plan: Any, _a: Any = None, _b: Any = None) -> float:
    """Largest relative error over a sample of tiles of the output, in units of the tolerance.

    ``data``: float16 of queries, keys and values, packed, ``out``: float32, CuPy arrays. Raises AssertionError beyond
    the tolerance, and for any element that was never written.
    """
    params = plan.params
    where = f"{plan.technique.name} {params}"
    if missing := int((~np.isfinite(out)).sum()):
        raise AssertionError(f"{where}: {missing} elements were never written")
    of_queries, of_keys = params.query_bytes // 2, params.key_bytes // 2
    of_head = params.tiles_per_cta * of_keys
    first_key = params.grid * of_queries
    first_value = first_key + params.heads * of_head
    data = data.view(np.float16)
    result = out.reshape(params.grid, params.queries, params.head)
    worst = 0.0
    for cta in sorted({0, params.grid - 1, *np.random.default_rng(params.grid).integers(0, params.grid, CTAS - 2)}):
        head = int(cta) // params.query_tiles
        queries = data[int(cta) * of_queries : (int(cta) + 1) * of_queries].get()
        keys, values = (
            data[first + head * of_head : first + (head + 1) * of_head].get().reshape(params.tiles_per_cta, -1)
            for first in (first_key, first_value)
        )
        wanted = attention(
            unpacked(queries[None], params.queries, params.head)[0],
            unpacked(keys, params.tile_keys, params.head).reshape(-1, params.head),
            # Values lie transposed: what is summed up over is last.
            unpacked(values, params.head, params.tile_keys).transpose(0, 2, 1).reshape(-1, params.head),
        )
        error = float((np.abs(result[int(cta)].get() - wanted) / wanted).max())
        worst = max(worst, error / LIMIT)
        if worst > 1.0:
            raise AssertionError(f"{where}: CTA {cta} is off by {error:.3g} (relative), allowed is {LIMIT:.3g}")
    return worst
