"""Shares of time as cells: thin levels that categories fill from the bottom up, or one category per bin."""

from __future__ import annotations

import numpy as np

__all__ = ["level_counts", "level_edges", "picked", "stacked"]

LEVEL_PX = 1.5
MOST_CELLS = 240_000
"""A browser paints so many cells in a tenth of a second."""


def level_counts(edges: np.ndarray, filled: np.ndarray, columns: int) -> np.ndarray:
    """How many levels each strip between ``edges`` has: one where it is not ``filled``, fewer where cells are many."""
    heights = np.diff(edges)
    total = max(float(heights[filled].sum()), 1e-9)
    step = max(LEVEL_PX, total * columns / MOST_CELLS)
    return np.where(filled, np.maximum(heights // step, 1), 1).astype(np.int64)


def level_edges(edges: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """``edges`` with those of the levels in between."""
    parts = [np.linspace(low, high, n, endpoint=False) for low, high, n in zip(edges, edges[1:], counts, strict=False)]
    return np.concatenate([*parts, edges[-1:]])


def stacked(shares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Per level, from the top of the first strip, and bin the place of a category, -1 for free time.

    ``shares`` (strip, bin, category) hold categories in the order from the bottom up. What occurs at all has a
    level to itself where there is room for it: a short event must not vanish beside a long one.
    """
    cells = np.full((int(counts.sum()), shares.shape[1]), -1, dtype=np.int16)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    for n in np.unique(counts).tolist():
        rows = np.flatnonzero(counts == n)
        level = _levels(shares[rows], n)
        for k in range(n):
            cells[first[rows] + n - 1 - k] = level[k]
    return cells


def picked(shares: np.ndarray) -> np.ndarray:
    """Per strip and bin the place of a category that occurs there, -1 where none does.

    Along a strip each is picked as often as its share of the time asks for: what is left over of one bin counts
    in the next. The largest share alone would hide all that is short but frequent.
    """
    if not shares.shape[2]:
        return np.full(shares.shape[:2], -1)
    time = shares.transpose(1, 0, 2)
    occupied = time.sum(axis=2)
    part = time / np.maximum(occupied, 1e-30)[:, :, None]
    barred = np.where(time > 0, 0.0, -np.inf)
    owed = np.zeros(part.shape[1:])
    place = np.empty(part.shape[:2], dtype=np.int64)
    every = np.arange(part.shape[1])
    for k in range(len(part)):
        owed += part[k]
        place[k] = (owed + barred[k]).argmax(axis=1)
        owed[every, place[k]] -= occupied[k] > 0
    return np.where(occupied > 0, place, -1).T


def _levels(shares: np.ndarray, n: int) -> np.ndarray:
    """(level, strip, bin): which category lies at the middle of each of ``n`` levels."""
    top = np.cumsum(_lifted(shares, 1.0 / n), axis=2)
    middle = (np.arange(n) + 0.5) / n
    place = np.stack([(top <= at).sum(axis=2) for at in middle])
    return np.where(place < shares.shape[2], place, -1)


def _lifted(shares: np.ndarray, least: float) -> np.ndarray:
    """Shares of at least ``least`` where there is any, at the cost of the larger ones where they do not fit."""
    least *= 1.0 + 1e-6
    floor = np.where(shares > 0, least, 0.0)
    over = np.maximum(shares - floor, 0.0)
    room = np.maximum(1.0 - floor.sum(axis=2), 0.0)
    part = np.minimum(room / np.maximum(over.sum(axis=2), 1e-30), 1.0)
    return floor + over * part[:, :, None]
