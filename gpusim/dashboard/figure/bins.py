"""Level of detail: many intervals become time shares per row and bin.

Every interval's time goes to the bins it covers, so a bin's shares add up to the time its
row was occupied and nothing is lost or counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Bins", "bin_shares"]


@dataclass(frozen=True)
class Bins:
    """Time per row, bin and category: ``time_us[row, bin, c]`` is that of ``categories[c]``, in µs."""

    edges_us: np.ndarray
    categories: list[int]
    time_us: np.ndarray

    @property
    def width_us(self) -> float:
        """Length of one bin."""
        return float(self.edges_us[1] - self.edges_us[0])

    def shares(self, lanes: np.ndarray) -> np.ndarray:
        """``time_us`` as parts of the time that a row has in a bin; ``lanes`` says how many lanes each row mixes.

        Where intervals of a lane overlap, their sum is the whole.
        """
        room = np.maximum(self.time_us.sum(axis=2), np.maximum(lanes, 1)[:, None] * self.width_us)
        return self.time_us / room[:, :, None]


def bin_shares(
    start_us: np.ndarray,
    end_us: np.ndarray,
    row: np.ndarray,
    category: np.ndarray,
    *,
    rows: int,
    low_us: float,
    high_us: float,
    count: int,
) -> Bins:
    """Shares of intervals in ``count`` equal bins of [low, high); parts outside are cut off."""
    edges = np.linspace(low_us, high_us, count + 1)
    width = (high_us - low_us) / count
    categories, code = np.unique(category, return_inverse=True)
    kinds = max(len(categories), 1)
    start = np.clip(start_us, low_us, high_us)
    end = np.clip(end_us, low_us, high_us)
    first = np.minimum(((start - low_us) / width).astype(np.int64), count - 1)
    last = np.minimum(((end - low_us) / width).astype(np.int64), count - 1)
    cell = (row.astype(np.int64) * count + first) * kinds + code
    size = rows * count * kinds

    inside = first == last
    time = np.bincount(cell[inside], weights=(end - start)[inside], minlength=size).astype(np.float64)
    spread = ~inside
    if spread.any():
        head, tail = cell[spread], cell[spread] + (last - first)[spread] * kinds
        time += np.bincount(head, weights=edges[first[spread] + 1] - start[spread], minlength=size)
        time += np.bincount(tail, weights=end[spread] - edges[last[spread]], minlength=size)
        time = time.reshape(rows, count, kinds)
        # Bins strictly between the first and the last are full: mark entry and exit, then sum up.
        steps = np.bincount(head + kinds, minlength=size + kinds) - np.bincount(tail, minlength=size + kinds)
        time += steps[:size].reshape(rows, count, kinds).cumsum(axis=1) * width
    return Bins(edges, categories.tolist(), np.maximum(time.reshape(rows, count, kinds), 0.0))
