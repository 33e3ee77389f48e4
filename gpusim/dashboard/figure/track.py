"""A timeline prepared for drawing: microseconds, categories, and fast crops to a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gpusim.dashboard.figure.palette import categories_of
from gpusim.timeline import KINDS, Timeline
from gpusim.timeline.tracks import take_first_free

__all__ = ["MICRO", "Track"]

MICRO = 1e6
KERNEL = KINDS.index("kernel")
MOST_LEVELS = 3
"""Kernels of a stream below each other; more would be too thin to read."""
TOUCHING_US = 0.05
"""Overlap that nobody would see, as of rounded stamps."""


@dataclass(frozen=True)
class Track:
    """One side of the picture: "predicted", or "measured" for whatever that stands against.

    Columns are those of the timeline, sorted by (lane, start). ``title`` is what the page calls the side. ``shift_us``
    moves the whole side on the time axis; ``start_us``/``end_us`` are unshifted.
    """

    timeline: Timeline
    side: str
    title: str = ""
    shift_us: float = 0.0
    _cache: dict = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.side)

    @property
    def is_measured(self) -> bool:
        """Whether it was recorded on a device."""
        return self.timeline.meta.get("source") != "predicted"

    def shifted(self, shift_us: float) -> Track:
        """A copy of this side that lies at ``shift_us``; it shares the prepared columns."""
        return replace(self, shift_us=shift_us)

    def remember(self, name: str, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, made once for this side and all its shifted copies."""
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    @cached_property
    def start_us(self) -> np.ndarray:
        """Start of each interval, without the shift."""
        return self.remember("start", lambda: self.timeline.start_s * MICRO)

    @cached_property
    def end_us(self) -> np.ndarray:
        """End of each interval, without the shift."""
        return self.remember("end", lambda: self.timeline.end_s * MICRO)

    @cached_property
    def category(self) -> np.ndarray:
        """Category id of each interval."""
        return self.remember("category", lambda: categories_of(self.timeline.kind, self.timeline.reason))

    @cached_property
    def present(self) -> list[int]:
        """Category ids that occur."""
        return self.remember("present", lambda: np.unique(self.category).tolist())

    @cached_property
    def bounds(self) -> np.ndarray:
        """Interval ``bounds[k]:bounds[k+1]`` belong to lane ``k``."""
        lanes = np.arange(len(self.timeline.lanes) + 1)
        return self.remember("bounds", lambda: np.searchsorted(self.timeline.lane, lanes))

    @cached_property
    def used_lanes(self) -> list[str]:
        """Lanes that hold at least one interval."""
        return [name for name, size in zip(self.timeline.lanes, np.diff(self.bounds), strict=True) if size]

    @cached_property
    def lane_ids(self) -> dict[str, int]:
        """Lane name to lane id."""
        return self.remember("lanes", lambda: {name: i for i, name in enumerate(self.timeline.lanes)})

    @cached_property
    def latest_end_us(self) -> np.ndarray:
        """Running maximum of the ends inside each lane: sorted even where intervals overlap."""
        return self.remember("latest", self._latest_end)

    def _latest_end(self) -> np.ndarray:
        latest = self.end_us.copy()
        for low, high in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            np.maximum.accumulate(latest[low:high], out=latest[low:high])
        return latest

    @cached_property
    def levels(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of how many parts of its lane's band each interval fills, from the top.

        Kernels of a stream that run at the same time lie below each other; all others fill the band.
        """
        return self.remember("levels", self._levels)

    def _levels(self) -> tuple[np.ndarray, np.ndarray]:
        level, parts = np.zeros(len(self.start_us), dtype=int), np.ones(len(self.start_us), dtype=int)
        for low, high in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            kernels = low + np.flatnonzero(self.timeline.kind[low:high] == KERNEL)
            if not (self.start_us[kernels[1:]] < self.latest_end_us[kernels[:-1]] - TOUCHING_US).any():
                continue
            free_us: list[float] = []
            for index in kernels.tolist():
                start, end = float(self.start_us[index]) + TOUCHING_US, float(self.end_us[index])
                level[index] = take_first_free(free_us, start, end) % MOST_LEVELS
            parts[kernels] = min(len(free_us), MOST_LEVELS)
        return level, parts

    @property
    def span_us(self) -> tuple[float, float]:
        """First start and last end, shifted; (0, 0) for an empty side."""
        first, last = self.remember("span", lambda: self.timeline.span_s)
        return first * MICRO + self.shift_us, last * MICRO + self.shift_us

    @property
    def total_us(self) -> float:
        """Claimed duration of the kernel or program."""
        return self.timeline.total_s * MICRO

    def crop(self, lanes: list[str], low_us: float, high_us: float) -> np.ndarray:
        """Indices of the intervals of ``lanes`` that overlap the open window (shifted time)."""
        low, high = low_us - self.shift_us, high_us - self.shift_us
        parts = []
        for name in lanes:
            lane = self.lane_ids.get(name)
            if lane is None:
                continue
            first, last = self.bounds[lane], self.bounds[lane + 1]
            begin = first + np.searchsorted(self.latest_end_us[first:last], low, side="right")
            stop = first + np.searchsorted(self.start_us[first:last], high, side="left")
            if begin < stop:
                parts.append(np.arange(begin, stop))
        if not parts:
            return np.empty(0, dtype=np.int64)
        index = np.concatenate(parts)
        return index[self.end_us[index] > low]
