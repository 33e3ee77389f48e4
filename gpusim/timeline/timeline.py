"""Intervals on lanes, predicted or measured: one type for both.

Columns are numpy arrays, so that a million intervals stay cheap; `Interval` objects
are made only when somebody looks at a single one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from gpusim.timeline.vocabulary import KINDS, REASONS, Kind, Reason

__all__ = ["COLUMNS", "Interval", "Timeline", "TimelineBuilder"]

COLUMNS = ("lane", "kind", "start_s", "end_s", "reason", "tile", "stage", "bytes", "cause")
"""The columns of a `Timeline`, in the order of the rows that a builder collects."""
_KIND_ID = {kind: i for i, kind in enumerate(KINDS)}
_REASON_ID = {reason: i for i, reason in enumerate(REASONS)}


@dataclass(frozen=True, slots=True)
class Interval:
    """One stretch of time on one lane. Seconds; ``tile``/``stage`` are -1 where they mean nothing."""

    lane: str
    kind: Kind
    start_s: float
    end_s: float
    reason: Reason = ""
    tile: int = -1
    stage: int = -1
    bytes: int = 0
    cause: int = -1
    """Index of the interval whose end released this wait, or -1."""

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Timeline:
    """An immutable set of intervals with its provenance.

    Columns are aligned and sorted by (lane, start): ``lane`` and ``kind``, ``reason`` are
    indices into ``lanes``, `KINDS`, `REASONS`; ``start_s``/``end_s`` float64 seconds;
    ``tile``, ``stage``, ``bytes``, ``cause`` int64.

    ``meta`` says where it comes from: at least ``source`` ("predicted" or "measured"),
    ``device`` and ``total_s`` (the kernel's or program's duration, which for a measured
    timeline is the un-instrumented one).
    """

    lanes: tuple[str, ...]
    lane: np.ndarray
    kind: np.ndarray
    start_s: np.ndarray
    end_s: np.ndarray
    reason: np.ndarray
    tile: np.ndarray
    stage: np.ndarray
    bytes: np.ndarray
    cause: np.ndarray
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lane)

    def __getitem__(self, index: int) -> Interval:
        return Interval(
            lane=self.lanes[self.lane[index]],
            kind=KINDS[self.kind[index]],
            start_s=float(self.start_s[index]),
            end_s=float(self.end_s[index]),
            reason=REASONS[self.reason[index]],
            tile=int(self.tile[index]),
            stage=int(self.stage[index]),
            bytes=int(self.bytes[index]),
            cause=int(self.cause[index]),
        )

    def __iter__(self) -> Iterator[Interval]:
        return (self[i] for i in range(len(self)))

    @property
    def total_s(self) -> float:
        """Duration of the whole kernel or program: ``meta['total_s']``, else the last end."""
        total = self.meta.get("total_s")
        return float(total) if total is not None else self.span_s[1]

    @property
    def span_s(self) -> tuple[float, float]:
        """First start and last end of the intervals; (0, 0) when there are none."""
        if not len(self):
            return (0.0, 0.0)
        return (float(self.start_s.min()), float(self.end_s.max()))

    def mask(self, *, lanes: str | None = None, kinds: Sequence[Kind] | None = None) -> np.ndarray:
        """Boolean column: intervals whose lane matches the regular expression and whose kind is listed."""
        keep = np.ones(len(self), dtype=bool)
        if lanes is not None:
            pattern = re.compile(lanes)
            chosen = np.array([bool(pattern.search(name)) for name in self.lanes], dtype=bool)
            keep &= chosen[self.lane] if len(self.lanes) else False
        if kinds is not None:
            keep &= np.isin(self.kind, [_KIND_ID[kind] for kind in kinds])
        return keep

    def with_meta(self, **meta: Any) -> Timeline:
        """A copy of the timeline with entries of ``meta`` added or replaced."""
        return replace(self, meta={**self.meta, **meta})


class TimelineBuilder:
    """Collects intervals in any order and makes a `Timeline` of them."""

    def __init__(self) -> None:
        self._lanes: dict[str, int] = {}
        self._rows: list[tuple[int, int, float, float, int, int, int, int, int]] = []

    def lane(self, name: str) -> int:
        """The id of a lane, made on first use; lanes keep the order in which they were named."""
        return self._lanes.setdefault(name, len(self._lanes))

    def add(
        self,
        lane: str,
        kind: Kind,
        start_s: float,
        end_s: float,
        reason: Reason = "",
        tile: int = -1,
        stage: int = -1,
        bytes: int = 0,
        cause: int = -1,
    ) -> int:
        """Add one interval; returns its index, by which a later one can name it as its cause."""
        self._rows.append(
            (self.lane(lane), _KIND_ID[kind], start_s, end_s, _REASON_ID[reason], tile, stage, bytes, cause)
        )
        return len(self._rows) - 1

    def build(self, **meta: Any) -> Timeline:
        """The sorted timeline; ``cause`` indices are carried over to the new order."""
        return _from_rows(tuple(self._lanes), self._rows, meta)


def _from_rows(lanes: tuple[str, ...], rows: Sequence[tuple], meta: Mapping[str, Any]) -> Timeline:
    """A sorted `Timeline` of rows (lane, kind, start, end, reason, tile, stage, bytes, cause)."""
    # Half the time of `np.array`, which looks at every row first.
    table = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * len(COLUMNS)).reshape(-1, len(COLUMNS))
    order = np.lexsort((table[:, 2], table[:, 0]))
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    table = table[order]
    cause = table[:, 8].astype(np.int64)
    known = cause >= 0
    cause[known] = position[cause[known]]
    return Timeline(
        lanes=lanes,
        lane=table[:, 0].astype(np.int32),
        kind=table[:, 1].astype(np.int16),
        start_s=table[:, 2].copy(),
        end_s=table[:, 3].copy(),
        reason=table[:, 4].astype(np.int16),
        tile=table[:, 5].astype(np.int64),
        stage=table[:, 6].astype(np.int64),
        bytes=table[:, 7].astype(np.int64),
        cause=cause,
        meta=dict(meta),
    )
