"""Pairs of the same event on the predicted and on the measured side.

Two intervals are the same event when lane, kind, tile and occurrence agree: the n-th
time that a lane does this to this tile. Reasons may differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpusim.dashboard.track import MICRO
from gpusim.timeline import Timeline

__all__ = ["Match", "match_events"]


@dataclass(frozen=True)
class Match:
    """Partner indices of every interval on both sides (-1: none), and how partners differ.

    Differences are measured minus predicted in µs, by predicted index, NaN without a
    partner; alignment shifts are not in them.
    """

    of_predicted: np.ndarray
    of_measured: np.ndarray
    start_delta_us: np.ndarray
    duration_delta_us: np.ndarray

    def __len__(self) -> int:
        return int((self.of_predicted >= 0).sum())

    def paired(self, predicted: np.ndarray) -> np.ndarray:
        """Those of the given predicted indices that have a partner."""
        return predicted[self.of_predicted[predicted] >= 0]


def _occurrence(key: np.ndarray) -> np.ndarray:
    """How many earlier entries have the same key."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.ones(len(key), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    position = np.arange(len(key))
    count = np.empty(len(key), dtype=np.int64)
    count[order] = position - np.maximum.accumulate(np.where(fresh, position, 0))
    return count


def match_events(predicted: Timeline, measured: Timeline) -> Match:
    """All events that occur on both sides; lanes are matched by name."""
    names = {name: i for i, name in enumerate(predicted.lanes)}
    for name in measured.lanes:
        names.setdefault(name, len(names))
    tiles = int(max(predicted.tile.max(initial=-1), measured.tile.max(initial=-1))) + 2

    def keys(side: Timeline) -> np.ndarray:
        lane = np.array([names[name] for name in side.lanes], dtype=np.int64)[side.lane] if len(side) else side.lane
        key = (lane.astype(np.int64) * 64 + side.kind) * tiles + side.tile + 1
        return key * (1 << 20) + np.minimum(_occurrence(key), (1 << 20) - 1)

    _, left, right = np.intersect1d(keys(predicted), keys(measured), return_indices=True)
    of_predicted = np.full(len(predicted), -1, dtype=np.int64)
    of_measured = np.full(len(measured), -1, dtype=np.int64)
    of_predicted[left], of_measured[right] = right, left
    start = np.full(len(predicted), np.nan)
    duration = np.full(len(predicted), np.nan)
    start[left] = (measured.start_s[right] - predicted.start_s[left]) * MICRO
    duration[left] = (measured.end_s[right] - predicted.end_s[left]) * MICRO - start[left]
    return Match(of_predicted, of_measured, start, duration)
