"""The chain of intervals that sets the duration: unless one of them gets shorter, the total does not.

Walked back from the last end: a wait leads to what released it, work to what came
before it on its lane. The prediction knows the cause of every wait; for a measured
timeline it is inferred as the work of the same CTA that ended last before the wait did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from gpusim.timeline.lane_names import cta_of, parts_of, sm_of
from gpusim.timeline.timeline import Timeline
from gpusim.timeline.vocabulary import KINDS

__all__ = ["CriticalPath", "Step", "critical_path"]

_WAIT_KINDS = frozenset(KINDS.index(kind) for kind in ("wait", "barrier", "idle"))
_PRODUCT = KINDS.index("product")


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of the path: interval ``index``, from ``start_s`` to ``end_s`` of it."""

    index: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class CriticalPath:
    """Steps in time order; they do not overlap. ``inferred`` says that causes were guessed."""

    steps: tuple[Step, ...]
    by_kind: dict[str, float]
    inferred: bool

    @property
    def bottleneck(self) -> str:
        """The kind with the largest share, or "" for an empty timeline."""
        return max(self.by_kind, key=lambda kind: self.by_kind[kind]) if self.by_kind else ""


def critical_path(timeline: Timeline) -> CriticalPath:
    """The critical path of ``timeline``; seconds per kind along it."""
    if not len(timeline):
        return CriticalPath((), {}, inferred=False)
    walker = _Walker(timeline)
    steps = tuple(walker.walk())
    by_kind: dict[str, float] = defaultdict(float)
    for step in steps:
        by_kind[KINDS[timeline.kind[step.index]]] += step.end_s - step.start_s
    return CriticalPath(steps, dict(by_kind), walker.inferred)


class _Walker:
    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.inferred = False
        span = timeline.span_s
        self._tolerance = 1e-9 * (span[1] - span[0])
        owners: dict[Hashable, int] = {}
        owner_of_lane = np.array([owners.setdefault(_owner(name), len(owners)) for name in timeline.lanes])
        self._owner = owner_of_lane[timeline.lane]
        work = ~np.isin(timeline.kind, list(_WAIT_KINDS))
        # Work by owner, ordered by end, so that "ended last before t" is one bisection.
        order = np.lexsort((timeline.end_s, self._owner))
        self._by_end = order[work[order]]
        self._ends = timeline.end_s[self._by_end]
        self._first = np.searchsorted(self._owner[self._by_end], np.arange(len(owners) + 1))

    def walk(self) -> list[Step]:
        timeline = self._timeline
        index = int(np.argmax(timeline.end_s))
        until = float(timeline.end_s[index])
        steps: list[Step] = []
        seen: set[int] = set()
        while index >= 0 and index not in seen:
            seen.add(index)
            start = float(timeline.start_s[index])
            waiting = int(timeline.kind[index]) in _WAIT_KINDS
            cause = self._cause(index, waiting)
            if cause >= 0 and (waiting or self._for_products(index, cause)):
                # What of the wait lies after its cause ended is waking up: it stays on the path.
                start = min(max(float(timeline.end_s[cause]), start), until)
            if until > start:
                steps.append(Step(index, start, until))
            until = min(until, start)
            index = cause if cause >= 0 else self._previous(index)
            if index >= 0:
                until = min(until, float(timeline.end_s[index]))
        return steps[::-1]

    def _for_products(self, index: int, cause: int) -> bool:
        """Whether a warp, which counts as computing, waits for the tensor cores."""
        kind = self._timeline.kind
        return bool(kind[cause] == _PRODUCT != kind[index])

    def _cause(self, index: int, waiting: bool) -> int:
        timeline = self._timeline
        known = int(timeline.cause[index])
        if known >= 0 or not waiting:
            return known
        cause = self._released_by(index)
        if cause >= 0:
            self.inferred = True
        return cause

    def _released_by(self, index: int) -> int:
        """Work of the same CTA on another lane that ended during the wait, the latest of it."""
        timeline = self._timeline
        owner = self._owner[index]
        low, high = self._first[owner], self._first[owner + 1]
        end = float(timeline.end_s[index]) + self._tolerance
        position = low + int(np.searchsorted(self._ends[low:high], end, side="right")) - 1
        while position >= low:
            candidate = int(self._by_end[position])
            if timeline.end_s[candidate] < timeline.start_s[index] - self._tolerance:
                return -1
            if timeline.lane[candidate] != timeline.lane[index]:
                return candidate
            position -= 1
        return -1

    def _previous(self, index: int) -> int:
        """The interval before this one on its lane (rows are sorted by lane and start)."""
        timeline = self._timeline
        if index > 0 and timeline.lane[index - 1] == timeline.lane[index]:
            return index - 1
        return -1


def _owner(lane: str) -> Hashable:
    """The same for lanes that do one work: those of a CTA, or of a unit."""
    return cta_of(lane) or (sm_of(lane), parts_of(lane)[0].name)
