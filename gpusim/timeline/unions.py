"""Unions of intervals per group, vectorised: the one operation all overlap metrics rest on."""

from __future__ import annotations

import numpy as np

__all__ = ["union_length"]


def union_length(group: np.ndarray, start_s: np.ndarray, end_s: np.ndarray, groups: int) -> np.ndarray:
    """Seconds covered by at least one interval, for each group 0 … ``groups`` - 1.

    Each group is shifted to its own stretch of the axis, so that one sort and one running
    maximum serve all of them: O(n log n) for any number of groups.
    """
    covered = np.zeros(groups)
    if not len(start_s):
        return covered
    origin = float(start_s.min())
    stretch = float(end_s.max()) - origin
    shift = group * (2.0 * stretch) - origin
    start, end = start_s + shift, end_s + shift
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reached = np.maximum.accumulate(end)
    # An interval adds what of it lies beyond everything that began before it.
    before = np.concatenate(([-np.inf], reached[:-1]))
    added = np.maximum(end - np.maximum(start, before), 0.0)
    np.add.at(covered, group[order], added)
    return covered
