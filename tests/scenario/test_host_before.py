"""Buffers that are freed in another stream than they were allocated in: what orders the two."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from tests.scenario.host_programs import looped, scenario

TAKE = "{malloc_async: {buffer: 'd#', bytes: 1 MiB, stream: a}}"
FREE = TAKE + ", {launch: {kernel: k, stream: a}}, MORE{free_async: {buffer: 'd#', stream: b}}"
STREAMS = "  streams: {a: {}, b: {}}\n  kernels: {k: {duration: 5 us}}\n  slots: {s: 4}\n"


class TestFreesInAnotherStream:
    """Something has to order them behind the allocation."""

    @pytest.mark.parametrize(
        "more",
        [
            "",
            "sync_stream: b",
            "sync_event: old",
            "record: {event: e, stream: a}",
            "wait_event: {event: old, stream: b}",
        ],
    )
    def test_nothing_does(self, more):
        """No wait, or one for something else; the place is that of the stream."""
        steps = "{record: {event: old, stream: a}}, " + FREE.replace("MORE", f"{{{more}}}, " if more else "")
        with pytest.raises(ScenarioError) as caught:
            scenario(looped(steps, 1, STREAMS))
        assert "per_chunk." in str(caught.value)
        assert "free_async.stream: in stream 'b' nothing orders it behind the malloc_async of 'd0' in 'a'" in str(
            caught.value
        )
        assert "a record in a behind the last use, and a wait_event for it in b" in str(caught.value)

    @pytest.mark.parametrize(
        "more",
        [
            "{record: {event: e, stream: a}}, {wait_event: {event: e, stream: b}}", "{sync_stream: a}", "sync_device",
            "{record: {event: e, stream: a}}, {sync_event: e}", "{malloc: {buffer: 'm#', bytes: 4}}", "{acquire: s}",
            ("{record: {event: e, stream: a}}, {wait_event: {event: e, stream: c}}, {record: {event: f, stream: c}}, "
            "{wait_event: {event: f, stream: b}}"),
        ],
    )  # fmt: skip
    def test_something_does(self, more):
        """An event, also by way of another stream; what the host waits for, or may have waited for."""
        streams = STREAMS.replace("b: {}}", "b: {}, c: {}}")
        assert scenario(looped(FREE.replace("MORE", f"{more}, "), 1, streams))

    def test_streams_that_wait_for_each_other_do(self):
        """The legacy stream and blocking ones."""
        kinds = STREAMS.replace("{a: {}, b: {}}", "{a: {kind: KIND}, b: {kind: legacy}}")
        steps = FREE.replace("MORE", "")
        assert scenario(looped(steps, 2, kinds.replace("KIND", "blocking")))
        with pytest.raises(ScenarioError, match="in stream 'b' nothing orders it"):
            scenario(looped(steps, 2, kinds.replace("KIND", "non_blocking")))

    def test_what_may_come_in_between_is_no_mistake(self):
        """A thread that orders it, or an allocator of the host's own."""
        steps = FREE.replace("MORE", "")
        pool = STREAMS + "  pools: {own: {kind: caching}}\n"
        assert scenario(looped(steps.replace("stream: a}}, {l", "stream: a, pool: own}}, {l"), 1, pool))
        other = "    two: {per_chunk: [{wait_event: {event: e, stream: b}}, {record: {event: e, stream: b}}]}\n"
        assert scenario(looped(steps, 1, STREAMS) + other)

    def test_chunks_that_go_round_the_streams(self):
        """The next chunk is in another one."""
        steps = "{malloc_async: {buffer: 'd#', bytes: 4}}, {launch: k}, {free_async: 'd#-1'}"
        with pytest.raises(
            ScenarioError, match="in stream 'b' nothing orders it behind the malloc_async of 'd0' in 'a'"
        ):
            scenario(looped(steps, 3, STREAMS) + "      epilogue: [{free_async: d2}]\n")
