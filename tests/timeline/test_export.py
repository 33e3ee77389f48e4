"""Timelines as other tools read them."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise

from gpusim.timeline import TimelineBuilder
from gpusim.timeline.export import to_chrome_json


def test_intervals_of_a_lane_that_overlap_are_on_threads_of_their_own():
    """A viewer takes overlapping events of one thread for nested ones, also those that reach beyond the outer one."""
    builder = TimelineBuilder()
    for tile, (start_us, end_us) in enumerate([(0, 1), (0, 3), (2, 5), (3, 4), (5, 6)]):
        builder.add("loads", "load", start_us * 1e-6, end_us * 1e-6, tile=tile)
    builder.add("warp", "compute", 0.0, 2e-6)
    builder.add("warp", "compute", 2e-6, 3e-6)
    builder.add("idle", "idle", 0.0, 1e-6)
    events = json.loads(to_chrome_json({"predicted": builder.build()}))["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert list(names.values()) == ["loads", "loads (2)", "warp", "idle"]
    on = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            on[names[event["tid"]]].append((event["ts"], event["ts"] + event["dur"]))
    assert {name: len(spans) for name, spans in on.items()} == {"loads": 3, "loads (2)": 2, "warp": 2, "idle": 1}
    for spans in on.values():
        assert all(end <= start + 1e-6 for (_, end), (start, _) in pairwise(spans))


def test_what_overlaps_by_rounding_is_on_one_thread():
    builder = TimelineBuilder()
    builder.add("warp", "compute", 0.0, 1e-6 + 1e-16)
    builder.add("warp", "wait", 1e-6, 2e-6)
    events = json.loads(to_chrome_json({"predicted": builder.build()}))["traceEvents"]
    assert {event["tid"] for event in events if event["ph"] == "X"} == {1}


def test_threads_say_what_the_program_calls_their_lane():
    """Behind the lane's own name."""
    builder = TimelineBuilder()
    builder.add("stream[0]", "kernel", 0.0, 1e-6)
    text = to_chrome_json({"predicted": builder.build(lane_names={"stream[0]": "work"}, total_s=1e-6)})
    names = [event["args"]["name"] for event in json.loads(text)["traceEvents"] if event["name"] == "thread_name"]
    assert names == ["stream[0] work"]
