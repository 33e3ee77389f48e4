"""Timelines for other tools: Chrome JSON (Perfetto, chrome://tracing) and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from gpusim.timeline.timeline import Timeline
from gpusim.timeline.vocabulary import KINDS, REASONS

__all__ = ["to_chrome_json", "to_csv"]


def to_chrome_json(timelines: Mapping[str, Timeline]) -> str:
    """Chrome trace events, one process per timeline and one thread per lane; times in µs.

    Intervals of one lane do not overlap, so complete ("X") events lose nothing.
    """
    events: list[dict[str, Any]] = []
    for process, (name, timeline) in enumerate(timelines.items(), start=1):
        events.append({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}})
        for thread, lane in enumerate(timeline.lanes, start=1):
            events.append({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": lane}})
            events.append(
                {"ph": "M", "name": "thread_sort_index", "pid": process, "tid": thread, "args": {"sort_index": thread}}
            )
        events += [_event(process, timeline, index) for index in range(len(timeline))]
    other = {
        name: {"total_s": timeline.total_s, "source": timeline.meta.get("source")}
        for name, timeline in timelines.items()
    }
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": other}, separators=(",", ":"))


def _event(process: int, timeline: Timeline, index: int) -> dict[str, Any]:
    interval = timeline[index]
    details = {"tile": interval.tile, "stage": interval.stage, "bytes": interval.bytes, "reason": interval.reason}
    return {
        "ph": "X",
        "name": f"{interval.kind}: {interval.reason}" if interval.reason else interval.kind,
        "cat": interval.kind,
        "pid": process,
        "tid": int(timeline.lane[index]) + 1,
        "ts": interval.start_s * 1e6,
        "dur": interval.duration_s * 1e6,
        "args": {name: value for name, value in details.items() if value not in (-1, "")},
    }


def to_csv(timelines: Mapping[str, Timeline]) -> str:
    """One row per interval of every timeline; seconds and bytes."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("timeline", "lane", "kind", "reason", "start_s", "end_s", "tile", "stage", "bytes"))
    for name, timeline in timelines.items():
        columns = (timeline.lane, timeline.kind, timeline.reason, timeline.start_s, timeline.end_s,
                   timeline.tile, timeline.stage, timeline.bytes)  # fmt: skip
        for lane, kind, reason, start, end, tile, stage, size in zip(*(c.tolist() for c in columns), strict=True):
            writer.writerow(
                (name, timeline.lanes[lane], KINDS[kind], REASONS[reason], repr(start), repr(end), tile, stage, size)
            )
    return stream.getvalue()
