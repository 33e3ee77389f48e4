"""What a timeline says about overlap, rate and waiting; predicted and measured alike.

A *group* is one SM (lanes ``sm[3]…``), or the whole device for lanes that belong to no
SM (streams, copy engines, host). Overlap is taken per group and then summed, because a
copy for one SM cannot hide under the arithmetic of another. The inside of a kernel on a stream
(lanes ``stream[1].kernel[2]…``) is left out: its kernel is there already.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpusim.timeline.lane_names import is_inside, sm_of
from gpusim.timeline.timeline import COLUMNS, Timeline
from gpusim.timeline.unions import union_length
from gpusim.timeline.vocabulary import KINDS, REASONS

__all__ = [
    "COMPUTE_KINDS",
    "COPY_KINDS",
    "achieved_bandwidth",
    "achieved_flop_rate",
    "busy_by_lane",
    "exposed_copy_s",
    "hidden_fraction",
    "memory_share",
    "outside_of_kernels",
    "period_s",
    "summary",
    "wait_by_reason",
]

COPY_KINDS = ("copy", "load")
"""Data on its way: an asynchronous copy in flight, or a warp blocked by its own load."""

COMPUTE_KINDS = ("compute", "kernel")
"""Arithmetic: a role of a CTA computing, or a kernel on a stream."""

INSIDE_GROUP = -1

_ROUNDING = 1e-9
"""What sums of many intervals may be off by."""


def outside_of_kernels(timeline: Timeline) -> Timeline:
    """The timeline without lanes inside of kernels on streams, which come last; itself where there are none."""
    count = sum(not is_inside(name) for name in timeline.lanes)
    if count == len(timeline.lanes):
        return timeline
    kept = timeline.lane < count
    columns = {name: getattr(timeline, name)[kept] for name in COLUMNS}
    return replace(timeline, lanes=timeline.lanes[:count], **columns)


def hidden_fraction(timeline: Timeline) -> float:
    """|copy busy ∩ compute busy| / |copy busy|, summed over groups; NaN without any copy.

    Copy busy is the time with at least one copy in flight (kinds `COPY_KINDS`), compute
    busy the time with at least one role computing (kinds `COMPUTE_KINDS`).
    """
    copy_s, both_s = _overlap(timeline)
    return both_s / copy_s if copy_s > 0 else float("nan")


def exposed_copy_s(timeline: Timeline) -> float:
    """Seconds during which a copy is in flight and nothing computes, averaged over groups; NaN without any copy.

    Of the intervals there are: a recording may hold the first tiles of a CTA only. NaN where a prediction leaves out
    its steady middle (``elided`` of ``meta``), which has most of them.
    """
    if timeline.meta.get("elided"):
        return float("nan")
    copy_s, both_s = _overlap(timeline)
    group = _groups(timeline)
    groups = len(np.unique(group[timeline.mask(kinds=COPY_KINDS) & (group != INSIDE_GROUP)]))
    left_s = copy_s - both_s if copy_s - both_s > _ROUNDING * copy_s else 0.0
    return left_s / groups if groups else float("nan")


def busy_by_lane(timeline: Timeline) -> dict[str, dict[str, float]]:
    """Share of the total time per lane and kind (intervals of one lane do not overlap)."""
    total = timeline.total_s
    table = np.zeros((len(timeline.lanes), len(KINDS)))
    np.add.at(table, (timeline.lane, timeline.kind), timeline.end_s - timeline.start_s)
    return {
        name: {kind: float(share) for kind, share in zip(KINDS, table[row] / total, strict=True) if share > 0}
        for row, name in enumerate(timeline.lanes)
    }


def wait_by_reason(timeline: Timeline) -> dict[str, float]:
    """Seconds of waiting per reason, summed over all lanes; barriers count as reason "barrier"."""
    waits = timeline.mask(kinds=("wait",))
    seconds = np.zeros(len(REASONS))
    np.add.at(seconds, timeline.reason[waits], (timeline.end_s - timeline.start_s)[waits])
    barriers = timeline.mask(kinds=("barrier",))
    seconds[REASONS.index("barrier")] += float((timeline.end_s - timeline.start_s)[barriers].sum())
    return {reason or "unknown": float(value) for reason, value in zip(REASONS, seconds, strict=True) if value > 0}


def period_s(timeline: Timeline) -> float:
    """Seconds per tile in the steady state: the mean spacing of the ends of computing.

    Taken per role lane between successive tiles, over the middle half of the run, where
    neither filling nor draining shows. The mean, because tiles that come in bursts are no faster
    for it. NaN with fewer than four tiles.
    """
    keep = timeline.mask(kinds=("compute",)) & (timeline.tile >= 0) & (_groups(timeline) != INSIDE_GROUP)
    if not keep.any():
        return float("nan")
    lane, tile, end = timeline.lane[keep], timeline.tile[keep], timeline.end_s[keep]
    order = np.lexsort((end, tile, lane))
    lane, tile, end = lane[order], tile[order], end[order]
    # A tile may be computed in several parts; the last one finishes it.
    last = np.concatenate(((lane[1:] != lane[:-1]) | (tile[1:] != tile[:-1]), [True]))
    lane, tile, end = lane[last], tile[last], end[last]
    same = (lane[1:] == lane[:-1]) & (tile[1:] == tile[:-1] + 1) & (end[1:] > end[:-1])
    if same.sum() < 3:
        return float("nan")
    middle = (end[1:] + end[:-1])[same] / 2
    spacing = np.diff(end)[same]
    low, high = np.quantile(middle, (0.25, 0.75))
    return float(spacing[(middle >= low) & (middle <= high)].mean())


def achieved_bandwidth(timeline: Timeline) -> float:
    """Bytes read and written from and to memory per second; NaN where ``meta`` does not say."""
    moved = timeline.meta.get("bytes_read", float("nan")) + timeline.meta.get("bytes_written", 0)
    return float(moved / timeline.total_s) if timeline.total_s > 0 else float("nan")


def memory_share(timeline: Timeline) -> float:
    """Share of the bandwidth of memory that is taken; NaN where ``meta`` does not say.

    The time memory is busy if that is known (``hbm_busy``), else the bytes read and written against the peak.
    Busy counts what is fetched and not wanted, and leaves out what L2 answers.
    """
    busy = timeline.meta.get("hbm_busy")
    if busy is not None:
        return float(busy)
    peak = timeline.meta.get("peak_bytes_per_s")
    return achieved_bandwidth(timeline) / peak if peak else float("nan")


def achieved_flop_rate(timeline: Timeline) -> float:
    """FLOP per second; NaN where ``meta`` does not say."""
    flop = timeline.meta.get("flop", float("nan"))
    return float(flop / timeline.total_s) if timeline.total_s > 0 else float("nan")


def summary(timeline: Timeline) -> dict[str, float | None]:
    """The numbers shown beside every timeline, by name; None where one means nothing.

    Seconds, bytes/s, FLOP/s and fractions. A prediction that extrapolated its loop knows
    the period better than its shortened trace does, and a recording of which not every warp
    is shown the hidden fraction, so ``meta['period_s']`` and ``meta['hidden_fraction']`` go first.
    What time stamps cost a recording (``meta['overhead']``, a share of the run time) is taken off the
    period, as the total is that of a run without them.
    """
    known, hidden = timeline.meta.get("period_s"), timeline.meta.get("hidden_fraction")
    values = {
        "total_s": timeline.total_s,
        "period_s": known if known is not None else period_s(timeline) / (1.0 + timeline.meta.get("overhead", 0.0)),
        "hidden_fraction": hidden if hidden is not None else hidden_fraction(timeline),
        "exposed_s": exposed_copy_s(timeline) if len(timeline) else float("nan"),
        "bandwidth_bytes_per_s": achieved_bandwidth(timeline),
        "flop_per_s": achieved_flop_rate(timeline),
    }
    return {name: None if np.isnan(value) else float(value) for name, value in values.items()}


def _groups(timeline: Timeline) -> np.ndarray:
    """Group number of every interval: 0 for the device, 1 + SM number for an SM, -1 inside a kernel on a stream."""
    return np.array([_group(name) for name in timeline.lanes], dtype=np.int64)[timeline.lane]


def _group(lane: str) -> int:
    sm = sm_of(lane)
    return INSIDE_GROUP if is_inside(lane) else 0 if sm is None else sm + 1


def _overlap(timeline: Timeline) -> tuple[float, float]:
    """Seconds of copy busy, and of copy and compute busy at once, summed over groups."""
    group = _groups(timeline)
    count = int(group.max()) + 1 if len(group) else 0
    outside = group != INSIDE_GROUP
    copy, compute = timeline.mask(kinds=COPY_KINDS) & outside, timeline.mask(kinds=COMPUTE_KINDS) & outside

    def covered(keep: np.ndarray) -> float:
        return float(union_length(group[keep], timeline.start_s[keep], timeline.end_s[keep], count).sum())

    copy_s = covered(copy)
    # |A ∩ B| = |A| + |B| - |A ∪ B|; rounding may leave a tiny negative number.
    return copy_s, max(copy_s + covered(compute) - covered(copy | compute), 0.0)
