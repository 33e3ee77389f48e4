"""Pairs of the same event on the predicted and on the measured side.

Two intervals are the same event when lane, kind, tile and occurrence agree: the n-th
time that a lane does this to this tile. Reasons may differ. Where one side does it more
often, counting would pair what lies far apart; there those of the same stage are pairs
that are most alike: in length first, because one side as a whole may be late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpusim.dashboard.figure.track import MICRO
from gpusim.timeline import Timeline

__all__ = ["Match", "Pair", "match_events"]

MOST_PAIRS = 4_000_000
"""So many differences fit into memory without a thought; an event that is repeated more often has no partner."""


STARTS = 2.0
"""So many times less than a difference of lengths one of starts counts; of events that are equally long it decides."""


ALIKE = 8.0
"""Where one side has more of an event, pieces and wholes that are further apart in length are not the same."""


@dataclass(frozen=True, slots=True)
class Pair:
    """How one event of the other side differs from the predicted one, in µs."""

    start_us: float
    duration_us: float


@dataclass(frozen=True)
class Match:
    """Partner indices of every interval on both sides (-1: none), and how partners differ.

    Differences are the other side minus predicted in µs, by predicted index, NaN without a
    partner; alignment shifts are not in them. ``titles`` are what the page calls the sides.
    """

    of_predicted: np.ndarray
    of_measured: np.ndarray
    start_delta_us: np.ndarray
    duration_delta_us: np.ndarray
    titles: tuple[str, str] = ("predicted", "measured")

    @property
    def difference(self) -> str:
        """What the differences are: ``measured − predicted``."""
        return f"{self.titles[1]} − {self.titles[0]}"

    def __len__(self) -> int:
        return int((self.of_predicted >= 0).sum())

    def of(self, side: str, index: int, shift_us: float = 0.0) -> Pair | None:
        """The pair that an interval of a side is part of, if it is; ``shift_us`` moves the other side."""
        event = index if side == "predicted" else int(self.of_measured[index])
        if event < 0 or self.of_predicted[event] < 0:
            return None
        return Pair(float(self.start_delta_us[event]) + shift_us, float(self.duration_delta_us[event]))

    def paired(self, predicted: np.ndarray) -> np.ndarray:
        """What of the given predicted indices has a partner."""
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


def _uneven(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Keys that both sides have, but not equally often."""
    kinds, counts = np.unique(ours, return_counts=True)
    other_kinds, other_counts = np.unique(theirs, return_counts=True)
    shared, left, right = np.intersect1d(kinds, other_kinds, assume_unique=True, return_indices=True)
    return shared[counts[left] != other_counts[right]]


def _groups(wanted: np.ndarray, *sides: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Per key of ``wanted`` the indices that have it, on each side."""
    orders = [np.argsort(keys, kind="stable") for keys in sides]
    bounds = [
        [np.searchsorted(keys[order], wanted, side) for side in ("left", "right")]
        for keys, order in zip(sides, orders, strict=True)
    ]
    for k in range(len(wanted)):
        yield tuple(order[low[k] : high[k]] for order, (low, high) in zip(orders, bounds, strict=True))


def _closest(
    predicted: Timeline, measured: Timeline, ours: np.ndarray, theirs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Partners for all events of the side that has fewer, in order, most alike in stage, length and start."""
    if len(ours) * len(theirs) > MOST_PAIRS:
        return ours[:0], theirs[:0]
    start, length, stage = (
        np.abs(one[ours][:, None] - other[theirs][None, :])
        for one, other in (
            (predicted.start_s, measured.start_s),
            (_length(predicted), _length(measured)),
            (predicted.stage, measured.stage),
        )
    )
    # A lane that is late is so for all of its events: what differs among starts is small against lengths.
    apart = length + (start - start.min()) / STARTS
    apart += (stage > 0) * apart.max()
    if len(ours) <= len(theirs):
        theirs = theirs[_in_order(apart)]
    else:
        ours = ours[_in_order(apart.T)]
    one, other = _length(predicted)[ours], _length(measured)[theirs]
    alike = ALIKE * np.minimum(one, other) >= np.maximum(one, other)
    return ours[alike], theirs[alike]


def _in_order(apart: np.ndarray) -> np.ndarray:
    """A column for every row, each right of the one before, that together are the least ``apart``."""
    totals = apart.copy()
    for row in range(1, len(apart)):
        totals[row, 0] = np.inf
        totals[row, 1:] += np.minimum.accumulate(totals[row - 1])[:-1]
    columns = np.empty(len(apart), dtype=np.int64)
    end = apart.shape[1]
    for row in reversed(range(len(apart))):
        columns[row] = end = totals[row, :end].argmin()
    return columns


def _length(side: Timeline) -> np.ndarray:
    return side.end_s - side.start_s


def match_events(predicted: Timeline, measured: Timeline, titles: tuple[str, str] = ("predicted", "measured")) -> Match:
    """All events that occur on both sides; lanes are matched by name."""
    names = {name: i for i, name in enumerate(predicted.lanes)}
    for name in measured.lanes:
        names.setdefault(name, len(names))
    tiles = int(max(predicted.tile.max(initial=-1), measured.tile.max(initial=-1))) + 2

    def keys(side: Timeline) -> np.ndarray:
        lane = np.array([names[name] for name in side.lanes], dtype=np.int64)[side.lane] if len(side) else side.lane
        return (lane.astype(np.int64) * 64 + side.kind) * tiles + side.tile + 1

    ours, theirs = keys(predicted), keys(measured)
    odd = _uneven(ours, theirs)
    by_count = [
        np.where(np.isin(key, odd), -1 - side, key * (1 << 20) + np.minimum(_occurrence(key), (1 << 20) - 1))
        for side, key in enumerate((ours, theirs))
    ]
    # No key of one side is negative on the other one too, so that what is uneven pairs with nothing here.
    shared, left, right = np.intersect1d(*by_count, return_indices=True)
    left, right = left[shared >= 0], right[shared >= 0]
    near = [_closest(predicted, measured, *pair) for pair in _groups(odd, ours, theirs)]
    left, right = (np.concatenate([kept, *(pair[side] for pair in near)]) for side, kept in enumerate((left, right)))
    of_predicted = np.full(len(predicted), -1, dtype=np.int64)
    of_measured = np.full(len(measured), -1, dtype=np.int64)
    of_predicted[left], of_measured[right] = right, left
    start = np.full(len(predicted), np.nan)
    duration = np.full(len(predicted), np.nan)
    start[left] = (measured.start_s[right] - predicted.start_s[left]) * MICRO
    duration[left] = (measured.end_s[right] - predicted.end_s[left]) * MICRO - start[left]
    return Match(of_predicted, of_measured, start, duration, titles)
