"""The intervals of a shortened run, with what was left out put back.

The turn before a `Cut` is repeated as often as it is missing; what comes after moves later.
"""

from __future__ import annotations

import numpy as np

from gpusim.hardware.folding.shape import Cut
from gpusim.timeline import Timeline

__all__ = ["stretch"]

_MOST_INTERVALS = 1_000_000


def stretch(timeline: Timeline, cut: Cut) -> Timeline:
    """The timeline with the missing steps of ``cut`` put in.

    What starts after the cut moves later; the turn before the cut is repeated in between. When
    that would make more than a million intervals, or no turn can stand for the others (`Cut.apart`), the middle stays
    empty and ``meta['elided']`` says so.
    """
    if cut.missing <= 0:
        return timeline
    turn_s = cut.stride * cut.period_s
    turns = cut.missing // cut.stride
    lanes = np.array([lane.startswith(f"{cut.sm}.") for lane in timeline.lanes], dtype=bool)
    # What begins at the cut but for rounding belongs behind it, on both ends of the window.
    slack_s = 1e-6 * cut.period_s
    before = (timeline.start_s < cut.at_s - slack_s) | ~lanes[timeline.lane]
    begin_s = cut.at_s - cut.turn_s
    window = lanes[timeline.lane] & before & (timeline.start_s >= begin_s - slack_s)
    elided = cut.apart or len(timeline) + turns * int(window.sum()) > _MOST_INTERVALS
    copies = 0 if elided else turns
    picked = np.flatnonzero(window)
    repeat = np.repeat(np.arange(1, copies + 1), len(picked))
    source = np.concatenate([np.arange(len(timeline)), np.tile(picked, copies)])
    kept = before | (timeline.start_s >= cut.until_s)
    steps = np.concatenate([np.where(kept, 0, cut.missing), repeat * cut.stride])

    def put(at_s: np.ndarray) -> np.ndarray:
        """Originals behind the cut move later; copies of the window follow each other from the cut on."""
        within = (np.tile(at_s[picked], copies) - begin_s) * (turn_s / cut.turn_s)
        return np.concatenate([at_s + np.where(before, 0.0, cut.added_s), cut.at_s + (repeat - 1) * turn_s + within])

    start, end = put(timeline.start_s), put(timeline.end_s)
    order = np.lexsort((start, timeline.lane[source]))
    lane, start, end = timeline.lane[source][order], start[order], end[order]
    tile = timeline.tile[source]
    return Timeline(
        lanes=timeline.lanes,
        lane=lane,
        kind=timeline.kind[source][order],
        start_s=start,
        end_s=_ended(timeline, lane, start, end),
        reason=timeline.reason[source][order],
        tile=np.where((tile >= 0) & (cut.tiles and not cut.apart), tile + steps, tile)[order],
        stage=timeline.stage[source][order],
        bytes=timeline.bytes[source][order],
        cause=_causes(timeline, window, ~before, order, copies),
        meta={**timeline.meta, "elided": elided or bool(timeline.meta.get("elided"))},
    )


def _ended(timeline: Timeline, lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """When sorted intervals end: at a seam, which does not quite fit, as the next one of their lane begins.

    Not on lanes whose intervals overlapped before.
    """
    same = timeline.lane[1:] == timeline.lane[:-1]
    overlap = same & (timeline.start_s[1:] < timeline.end_s[:-1])
    in_turn = np.bincount(timeline.lane[:-1][overlap], minlength=len(timeline.lanes)) == 0
    next_s = np.where((lane[1:] == lane[:-1]) & in_turn[lane[1:]], start[1:], np.inf)
    return np.append(np.minimum(end[:-1], next_s), end[-1:])


def _causes(timeline: Timeline, window: np.ndarray, after: np.ndarray, order: np.ndarray, copies: int) -> np.ndarray:
    """Cause indices in the stretched order.

    Copy c of an interval is caused by copy c of its cause. A cause in the turn before the window has its
    counterpart inside the window, as many places further on its lane as the lane has intervals there;
    that one belongs to the copy before.
    """
    count = len(timeline)
    picked = np.flatnonzero(window)
    rank = np.full(count, -1, dtype=np.int64)
    rank[picked] = np.arange(len(picked))
    per_lane = np.bincount(timeline.lane[picked], minlength=len(timeline.lanes))
    cause = timeline.cause
    # What lies before the window refers to the copy before; -1 where there is no counterpart.
    lane = timeline.lane[np.maximum(cause, 0)]
    later = np.minimum(np.maximum(cause, 0) + per_lane[lane], count - 1)
    in_window = (cause >= 0) & window[np.maximum(cause, 0)]
    through = (cause >= 0) & ~in_window & window[later] & (timeline.lane[later] == lane)
    target = np.where(in_window, cause, np.where(through, later, -1))
    back = np.where(through, 1, 0)
    # A wait across the cut is ended by something behind it: by copy 1 of what that was a turn before.
    earlier = np.maximum(np.maximum(cause, 0) - per_lane[lane], 0)
    across = ~after & (cause >= 0) & after[np.maximum(cause, 0)] & window[earlier] & (timeline.lane[earlier] == lane)
    target = np.where(across, earlier, target)
    back = np.where(across, -1, back)

    def place(interval: np.ndarray, copy: np.ndarray) -> np.ndarray:
        """Position before sorting of copy ``copy`` (0: the original) of window intervals."""
        return np.where(copy > 0, count + (copy - 1) * len(picked) + rank[np.maximum(interval, 0)], interval)

    # Originals after the cut refer to the last copy of what lies in the window.
    shifted = place(target, copies - back)
    original = np.where(after & (target >= 0) & (copies > 0), shifted, cause)
    original = np.where(across & (copies > 0), place(earlier, np.ones_like(earlier)), original)
    copy = np.repeat(np.arange(1, copies + 1), len(picked))
    of_copies = np.tile(target[picked], copies)
    of_copy = copy - np.tile(back[picked], copies)
    repeated = np.where(of_copies >= 0, place(of_copies, np.minimum(of_copy, copies)), -1)
    # The last copy of such a wait is ended by the original, which lies behind everything put in.
    last = np.tile(across[picked], copies) & (of_copy > copies)
    repeated = np.where(last, np.tile(cause[picked], copies), repeated)
    unsorted = np.concatenate([original, repeated])
    position = np.empty(len(unsorted), dtype=np.int64)
    position[order] = np.arange(len(unsorted))
    placed = np.where(unsorted >= 0, position[np.maximum(unsorted, 0)], -1)
    return placed[order]
