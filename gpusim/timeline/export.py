"""Timelines for other tools: Chrome JSON (Perfetto, chrome://tracing) and CSV; Perfetto's own in `perfetto_export`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpusim.timeline.timeline import Timeline
from gpusim.timeline.tracks import places_of, tracks_per_lane
from gpusim.timeline.vocabulary import KINDS, REASONS

__all__ = ["kernel_names", "title_of", "to_chrome_json", "to_csv"]


def to_chrome_json(timelines: Mapping[str, Timeline]) -> str:
    """Chrome trace events, one process per timeline and one thread per lane; times in µs.

    Viewers draw complete ("X") events of a thread that overlap as calls of one another. Lanes whose intervals
    overlap, such as the loads that a warp has under way, have as many threads as it takes to keep them apart.
    """
    events: list[dict[str, Any]] = []
    for process, (name, timeline) in enumerate(timelines.items(), start=1):
        events.append({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}})
        places = places_of(timeline)
        most = tracks_per_lane(places)
        threads: dict[tuple[int, int], int] = {}
        for lane, title in enumerate(title_of(timeline, lane) for lane in timeline.lanes):
            for number in range(most.get(lane, 1)):
                thread = threads[lane, number] = len(threads) + 1
                shown = f"{title} ({number + 1})" if number else title
                for kind, told in (("thread_name", {"name": shown}), ("thread_sort_index", {"sort_index": thread})):
                    events.append({"ph": "M", "name": kind, "pid": process, "tid": thread, "args": told})
        called = kernel_names(timeline)
        events += [_event(process, threads[place], timeline, index, called) for index, place in enumerate(places)]
    other = {
        name: {"total_s": timeline.total_s, "source": timeline.meta.get("source")}
        for name, timeline in timelines.items()
    }
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": other}, separators=(",", ":"))


def title_of(timeline: Timeline, lane: str) -> str:
    """The lane, with what the program calls it where it has a name."""
    names = timeline.meta.get("lane_names", {})
    return f"{lane} {names[lane]}" if lane in names else lane


def kernel_names(timeline: Timeline) -> dict[int, str]:
    """What each interval that is a kernel is called, as far as the timeline knows."""
    known: Mapping[str, Sequence[str]] = timeline.meta.get("kernel_names", {})
    return {
        int(index): name
        for lane, names in known.items()
        for index, name in zip(
            np.flatnonzero(timeline.mask(lanes=f"^{re.escape(lane)}$", kinds=["kernel"])), names, strict=True
        )
    }


def _event(process: int, thread: int, timeline: Timeline, index: int, called: Mapping[int, str]) -> dict[str, Any]:
    interval = timeline[index]
    kind = called.get(index, interval.kind)
    details = {"tile": interval.tile, "stage": interval.stage, "bytes": interval.bytes, "reason": interval.reason}
    return {
        "ph": "X",
        "name": f"{kind}: {interval.reason}" if interval.reason else kind,
        "cat": interval.kind,
        "pid": process,
        "tid": thread,
        "ts": interval.start_s * 1e6,
        "dur": interval.duration_s * 1e6,
        "args": {name: value for name, value in details.items() if value not in (-1, "")},
    }


def to_csv(timelines: Mapping[str, Timeline]) -> str:
    """One row per interval of every timeline, with the name of a kernel that it is; seconds and bytes."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("timeline", "lane", "kind", "reason", "start_s", "end_s", "tile", "stage", "bytes", "kernel"))
    for name, timeline in timelines.items():
        columns = (timeline.lane, timeline.kind, timeline.reason, timeline.start_s, timeline.end_s,
                   timeline.tile, timeline.stage, timeline.bytes)  # fmt: skip
        called = kernel_names(timeline)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for index, (lane, kind, reason, start, end, tile, stage, size) in enumerate(rows):
            words = name, timeline.lanes[lane], KINDS[kind], REASONS[reason]
            writer.writerow((*words, repr(start), repr(end), tile, stage, size, called.get(index, "")))
    return stream.getvalue()
