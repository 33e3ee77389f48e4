"""Chunks whose calls are issued op by op: all copies in, then all kernels, then all copies out."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from tests.scenario.host_programs import scenario

STEPS = "[{wait_event: 'out#-2'}, {h2d: 4}, {repeat: {times: 2, ops: [{launch: k}, {d2h: 4}]}}, {record: 'out#'}]"


def order(breadth: int, chunks: int = 4, steps: str = STEPS) -> list[tuple[str, int, str]]:
    """Type, chunk and stream of each call."""
    host = f"""  streams: 2
  kernels: {{k: {{duration: 1 us}}}}
  threads:
    main:
      chunks: {chunks}
      breadth_first: {breadth}
      prologue: [sync_device]
      per_chunk: {steps}
      epilogue: [sync_device]
"""
    ops = scenario(host).program().threads[0].ops
    return [(type(op).__name__, op.chunk, getattr(op, "stream", "")) for op in ops]


def test_one_chunk_after_the_other_is_depth_first():
    """What it is without being said."""
    chunks = [chunk for _, chunk, _ in order(1)[1:-1]]
    assert chunks == sorted(chunks)


def test_op_by_op():
    """Two chunks at a time, each in its own stream.

    A loop inside a chunk is one op; what has no chunk before it is left out.
    """
    copy, kernel, back, mark = "MemcpyAsync", "Launch", "MemcpyAsync", "EventRecord"
    first = [
        (copy, 0, "s0"), (copy, 1, "s1"),
        (kernel, 0, "s0"), (back, 0, "s0"), (kernel, 0, "s0"), (back, 0, "s0"),
        (kernel, 1, "s1"), (back, 1, "s1"), (kernel, 1, "s1"), (back, 1, "s1"),
        (mark, 0, "s0"), (mark, 1, "s1"),
    ]  # fmt: skip
    found = order(2)
    assert found[0] == found[-1] == ("DeviceSync", -1, "")
    assert found[1:13] == first
    assert [(name, chunk) for name, chunk, _ in found[13:17]] == [
        ("StreamWaitEvent", 2), ("StreamWaitEvent", 3), (copy, 2), (copy, 3),
    ]  # fmt: skip


def test_the_last_chunks_may_be_fewer():
    """Five, two at a time; and none is left out."""
    found = [chunk for name, chunk, _ in order(2, chunks=5) if name == "EventRecord"]
    assert found == [0, 1, 2, 3, 4]
    steps = STEPS.replace("{wait_event: 'out#-2'}, ", "")
    assert sorted(order(8, chunks=5, steps=steps)) == sorted(order(1, chunks=5, steps=steps))


def test_what_is_recorded_only_later_is_refused_in_this_order_too():
    """All chunks wait before any of them has recorded."""
    with pytest.raises(ScenarioError, match=r"event 'out0' is recorded only later"):
        order(8)


def test_none_at_a_time_is_refused():
    """With the place in the file."""
    with pytest.raises(ScenarioError, match=r"threads\.main\.breadth_first: .*at least 1"):
        order(0)
