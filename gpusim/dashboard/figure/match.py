"""Pairs of the same event on the predicted and on the measured side.

Two intervals are the same event when lane, kind, tile and occurrence agree: the n-th
time that a lane does this to this tile. Reasons may differ. Where one side does it more
often, counting would pair what lies far apart; there those of the same stage are pairs
that are most alike: in length first, because one side as a whole may be late. One side may also tell in several parts
what the other one tells as a whole, such as products and exponentials of one tile: parts between which the lane does
not wait are one event, where that makes both sides more alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpusim.dashboard.figure.track import MICRO
from gpusim.timeline import KINDS, Timeline

__all__ = ["Match", "Pair", "match_events"]

MOST_PAIRS = 4_000_000
"""So many differences fit into memory without a thought; an event that is repeated more often has no partner."""


STARTS = 2.0
"""So many times less than a difference of lengths one of starts counts; of events that are equally long it decides."""


ALIKE = 8.0
"""Where one side has more of an event, pieces and wholes that are further apart in length are not the same."""


SHORTEST_S = 1e-12
"""What an interval of no length counts as."""
WAIT = KINDS.index("wait")


@dataclass(frozen=True, slots=True)
class Pair:
    """How one event of the other side differs from the predicted one, in µs."""

    start_us: float
    duration_us: float
    parts: int = 1
    """Intervals of one side that are the event together."""


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
    parts: np.ndarray | None = None
    """By predicted index, of how many intervals the event is on the side where it has several; None for one each."""

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
        parts = 1 if self.parts is None else int(self.parts[event])
        return Pair(float(self.start_delta_us[event]) + shift_us, float(self.duration_delta_us[event]), parts)

    def paired(self, predicted: np.ndarray) -> np.ndarray:
        """What of the given predicted indices has a partner."""
        return predicted[self.of_predicted[predicted] >= 0]

    def beginning(self, predicted: np.ndarray) -> np.ndarray:
        """What of the given predicted indices has a partner, of several parts of one event the first alone."""
        paired = self.paired(predicted)
        return paired[self.of_measured[self.of_predicted[paired]] == paired]


@dataclass(frozen=True)
class _Events:
    """Events of one key on one side, each of one interval or of several parts: ``index[bounds[k]:bounds[k + 1]]``."""

    index: np.ndarray
    bounds: np.ndarray
    start_s: np.ndarray
    end_s: np.ndarray
    stage: np.ndarray

    def __len__(self) -> int:
        return len(self.start_s)

    @property
    def length_s(self) -> np.ndarray:
        return self.end_s - self.start_s

    def members(self, event: int) -> np.ndarray:
        """Indices of its intervals."""
        return self.index[self.bounds[event] : self.bounds[event + 1]]


def _events(side: Timeline, index: np.ndarray, waits: np.ndarray | None = None) -> _Events:
    """Each interval of ``index`` by itself, or the runs between waits; ``waits``: how many begin up to each of them."""
    firsts = np.arange(len(index))
    if waits is not None:
        firsts = np.flatnonzero(np.diff(waits[index], prepend=-1))
    ends, stages = (np.maximum.reduceat(column[index], firsts) for column in (side.end_s, side.stage))
    return _Events(index, np.append(firsts, len(index)), side.start_s[index[firsts]], ends, stages)


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


def _closest(ours: _Events, theirs: _Events) -> list[tuple[int, int]]:
    """Partners for all events of the side that has fewer, in order, most alike in stage, length and start."""
    if len(ours) * len(theirs) > MOST_PAIRS:
        return []
    start, length, stage = (
        np.abs(one[:, None] - other[None, :])
        for one, other in (
            (ours.start_s, theirs.start_s), (ours.length_s, theirs.length_s), (ours.stage, theirs.stage),
        )
    )  # fmt: skip
    # A lane that is late is so for all of its events: what differs among starts is small against lengths.
    apart = length + (start - start.min()) / STARTS
    apart += (stage > 0) * apart.max()
    left, right = np.arange(len(ours)), np.arange(len(theirs))
    if len(ours) <= len(theirs):
        right = _in_order(apart)
    else:
        left = _in_order(apart.T)
    one, other = ours.length_s[left], theirs.length_s[right]
    alike = ALIKE * np.minimum(one, other) >= np.maximum(one, other)
    return list(zip(left[alike].tolist(), right[alike].tolist(), strict=True))


def _unlike(ours: _Events, theirs: _Events, pairs: list[tuple[int, int]]) -> float:
    """By which factor the lengths of partners differ, as a logarithm, on average; endless without any."""
    if not pairs:
        return np.inf
    left, right = np.array(pairs).T
    lengths = ours.length_s[left], theirs.length_s[right]
    one, other = (np.maximum(length, SHORTEST_S) for length in lengths)
    return float(np.abs(np.log(one / other)).mean())


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


def _uneven_pairs(
    predicted: Timeline, measured: Timeline, groups: Iterator[tuple[np.ndarray, ...]]
) -> Iterator[tuple[_Events, _Events, list[tuple[int, int]]]]:
    """Pairs of the events of each group, of which one side has more: as they are, or its parts as wholes."""
    waits = [np.cumsum(side.kind == WAIT) for side in (predicted, measured)]
    for ours, theirs in groups:
        choices = [(_events(predicted, ours), _events(measured, theirs))]
        if len(ours) > len(theirs):
            joined = _events(predicted, ours, waits[0]), choices[0][1]
        else:
            joined = choices[0][0], _events(measured, theirs, waits[1])
        if any(len(one) < len(other) for one, other in zip(joined, choices[0], strict=True)):
            choices.append(joined)
        found = [(*events, _closest(*events)) for events in choices]
        yield min(found, key=lambda choice: (-len(choice[2]), _unlike(*choice)))


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
    of_predicted = np.full(len(predicted), -1, dtype=np.int64)
    of_measured = np.full(len(measured), -1, dtype=np.int64)
    of_predicted[left], of_measured[right] = right, left
    start, duration = (np.full(len(predicted), np.nan) for _ in range(2))
    start[left] = (measured.start_s[right] - predicted.start_s[left]) * MICRO
    duration[left] = (measured.end_s[right] - predicted.end_s[left]) * MICRO - start[left]
    parts = np.ones(len(predicted), dtype=np.int64)
    for mine, other, pairs in _uneven_pairs(predicted, measured, _groups(odd, ours, theirs)):
        for one, two in pairs:
            own, partner = mine.members(one), other.members(two)
            of_predicted[own], of_measured[partner] = partner[0], own[0]
            start[own] = (other.start_s[two] - mine.start_s[one]) * MICRO
            duration[own] = (other.length_s[two] - mine.length_s[one]) * MICRO
            parts[own] = max(len(own), len(partner))
    return Match(of_predicted, of_measured, start, duration, titles, parts)
