"""Timelines out of Chrome JSON: gpusim's own, a profiler's, and files that are none."""

import json
from collections import Counter
from pathlib import Path

import pytest

from gpusim.errors import RecordingError
from gpusim.timeline import TimelineBuilder
from gpusim.timeline.chrome_import import from_chrome_json
from gpusim.timeline.export import to_chrome_json


def event(cat="compute", ts=1.0, dur=2.0, pid=1, tid=1, name="", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def read(*events, **more):
    return from_chrome_json(json.dumps({"traceEvents": events, **more}).encode())


def rows(timeline):
    return [(one.lane, one.kind, round(one.start_s * 1e6, 6), round(one.end_s * 1e6, 6)) for one in timeline]


def test_what_gpusim_exports_comes_back_as_it_was():
    """Overlapping loads, which the export spreads over threads, too."""
    builder = TimelineBuilder()
    builder.add("sm[0].tma", "copy", 1e-6, 4e-6, tile=3, stage=1, bytes=4096)
    builder.add("sm[0].tma", "copy", 2e-6, 5e-6, tile=4, stage=2, bytes=4096)
    builder.add("stream[0]", "wait", 0.0, 1e-6, "event")
    line = builder.build(source="measured", total_s=7e-6, lane_names={"stream[0]": "copies in"})
    back = from_chrome_json(to_chrome_json({"measured": line}).encode())["measured"]
    assert list(back) == pytest.approx(list(line))
    assert (back.total_s, back.meta["source"]) == (7e-6, "measured")


def test_a_profilers_trace_lies_on_streams_engines_and_threads():
    """In the order of first use, from the first record on, however late the clock."""
    late = 1.5e15
    found = read(
        event("cuda_runtime", late, 3, pid=9, tid=9, name="cudaLaunchKernel"),
        event("kernel", late + 4, 8, stream=7, device=0),
        event("gpu_memcpy", late + 5, 2, name="Memcpy HtoD (Pinned -> Device)", stream=21, device=0, bytes=64),
        event("python_function", late, 9),
        deviceProperties=[{"name": "NVIDIA H200"}],
    )["trace"]
    assert rows(found) == [
        ("host[0]", "launch", 0, 3), ("stream[0]", "kernel", 4, 12), ("stream[1]", "copy", 5, 7),
        ("copy_engine[h2d]", "transfer", 5, 7),
    ]  # fmt: skip
    assert found.meta["device"] == "NVIDIA H200"
    assert found.total_s == pytest.approx(12e-6)


def test_kinds_of_ones_own_are_lanes_by_thread():
    """What is of no known kind is counted, not shown."""
    found = read(
        event("compute", 5.0, 1.0), event("wait", 6.0, 1.0, reason="barrier"), event("mine", 1.0, 1.0),
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "consumer"}},
    )["1"]  # fmt: skip
    assert rows(found) == [("consumer", "compute", 4, 5), ("consumer", "wait", 5, 6)]
    assert found[1].reason == "barrier"
    assert found.meta["skipped"] == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"traceEvents": [', "truncated or not JSON"),
        (b"\xff\xfe", "truncated or not JSON"),
        (b"[" * 100_000, "truncated or not JSON"),
        (b"3", "expected an object with a list"),
        (b'{"events": []}', "expected an object with a list"),
        (b'{"traceEvents": [3]}', "traceEvents[0] is no object"),
        (b"[]", 'no complete event; allowed as "cat": kernel'),
        (b'[{"ph": "X", "ts": "soon", "dur": 1}]', "traceEvents[0].ts is 'soon', expected a number of"),
        (b'[{"ph": "X", "ts": NaN, "dur": 1}]', "traceEvents[0].ts is nan"),
        (b'[{"ph": "X", "ts": 1' + 400 * b"0" + b', "dur": 1}]', "traceEvents[0].ts is 1000"),
        (b'[{"ph": "X", "ts": 1, "dur": -1}]', "traceEvents[0].dur is -1"),
        (b'[{"ph": "X", "ts": 1, "dur": 1, "cat": []}]', "traceEvents[0].cat is []"),
        (b'[{"ph": "X", "ts": 1, "dur": 1, "args": 3}]', "traceEvents[0].args is no object"),
        (b'[{"ph": "X", "ts": 1, "dur": 1, "cat": "mine"}]', "it has mine; allowed"),
    ],
)
def test_a_file_that_is_none_is_told_where(content, told):
    with pytest.raises(RecordingError) as caught:
        from_chrome_json(content)
    assert told in str(caught.value)


def test_a_trace_of_the_pytorch_profiler():
    """Recorded on an H200 (PyTorch 2.11): eight chunks of 4 MiB over two streams, in, two kernels, out."""
    trace = Path(__file__).with_name("pytorch_trace.json").read_bytes()
    (line,) = from_chrome_json(trace).values()
    found = Counter((one.lane, one.kind) for one in line)
    on_streams = {(f"stream[{number}]", kind): 8 for number in (0, 1) for kind in ("copy", "kernel")}
    assert found >= Counter(on_streams | {(f"copy_engine[{way}]", "transfer"): 8 for way in ("h2d", "d2h")})
    assert {one.bytes for one in line if one.kind == "transfer"} == {4 << 20}
    assert line.total_s == pytest.approx(1.384e-3, rel=1e-3)
