"""Hardware queues that streams share, and how often those of kernels look: closed forms on the textbook device."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.host import simulate_host
from gpusim.host.device.handover import GOLDEN_RATIO
from gpusim.program import host as ops
from gpusim.timeline import KINDS, Timeline
from tests.host.profiles import textbook
from tests.host.test_streams import COPY_S, MIB, program, total

LONG_S, SHORT_S = 100e-6, 1e-6
NAMES = ("gate", "free", *(f"w{i}" for i in range(6)))
STREAMS = tuple(ops.Stream(name, "non_blocking") for name in NAMES)


def kernel(stream: str, seconds: float = SHORT_S) -> ops.Launch:
    return ops.Launch(ops.Work(ops.FixedCost(seconds)), stream)


def behind_a_gate(waiting: int, *work: type[ops.Launch | ops.MemcpyAsync], **changes: float) -> Timeline:
    """A long kernel, ``waiting`` streams whose work waits for it, and then one stream whose work need not."""
    calls = [kernel("gate", LONG_S), ops.EventRecord("open", "gate")]
    for name in (*NAMES[2 : 2 + waiting], "free"):
        if name != "free":
            calls.append(ops.StreamWaitEvent("open", name))
        calls += [kernel(name) if kind is ops.Launch else ops.MemcpyAsync("h2d", MIB, name, True) for kind in work]
    return simulate_host(program(calls, streams=STREAMS), textbook(**changes))


def begin_of_the_free_one(timeline: Timeline) -> float:
    """When the work of the stream that waits for nothing begins."""
    lane = timeline.lanes.index("stream[1]")
    works = [KINDS.index(kind) for kind in ("kernel", "copy")]
    return float(timeline.start_s[(timeline.lane == lane) & np.isin(timeline.kind, works)].min())


@pytest.mark.parametrize(
    ("kind", "key", "then_s"),
    [(ops.Launch, "stream__connections", 0.0), (ops.MemcpyAsync, "copy__channels", 4 * COPY_S)],
    ids=["kernels", "copies"],
)
def test_as_many_waiting_streams_as_queues_hold_up_one_more(kind, key, then_s):
    """With four queues, three waiting streams disturb nobody; a fourth does, and copies then go one after the other."""
    assert begin_of_the_free_one(behind_a_gate(3, kind, **{key: 4})) == pytest.approx(0.0)
    assert begin_of_the_free_one(behind_a_gate(4, kind, **{key: 4})) == pytest.approx(LONG_S + then_s)


def test_a_queue_is_free_again_when_its_work_has_been_handed_out():
    """Streams that wait for nothing never share: with one queue, too, four kernels run side by side."""
    calls = [kernel(name, LONG_S) for name in NAMES[:4]]
    assert total(calls, streams=STREAMS, profile=textbook(stream__connections=1)) == pytest.approx(LONG_S)


def test_work_behind_another_streams_starts_when_that_is_handed_out_and_need_not_wait_for_its_end():
    """One queue for copies: the second stream's copy is handed out with the first one's, at the end of the gate."""
    timeline = behind_a_gate(1, ops.MemcpyAsync, copy__channels=1)
    assert timeline.total_s == pytest.approx(LONG_S + 2 * COPY_S)


@pytest.mark.parametrize("stages", [4, 5, 6])
def test_a_chain_of_more_streams_than_queues_goes_on_at_the_pace_of_those_that_share(stages):
    """Four queues: batches follow each other every stage up to five stages, and every second one with six."""
    batches, names = 12, [f"s{i}" for i in range(stages)]
    calls = []
    for batch in range(batches):
        for before, name in zip([None, *names], names, strict=False):
            if before:
                calls += [ops.EventRecord(f"{before}{batch}", before), ops.StreamWaitEvent(f"{before}{batch}", name)]
            calls.append(kernel(name, LONG_S))
    streams = tuple(ops.Stream(name, "non_blocking") for name in names)
    took = total(calls, streams=streams, profile=textbook(stream__connections=4))
    assert took == pytest.approx(((batches - 1) * max(stages - 4, 1) + stages) * LONG_S, rel=0.01)


def test_each_queue_of_kernels_beyond_two_lengthens_the_round_of_looks():
    """A kernel that finds its copy unfinished looks every 10 us; beside three that wait, every 10 + 2 * 3."""
    retry = {"stream__retry": 10e-6, "stream__retry_more": 3e-6}
    copy = ops.MemcpyAsync("h2d", MIB // 8, "free", True)
    for waiting, every in ((0, 10e-6), (1, 10e-6), (3, 16e-6)):
        calls = [ops.MemcpyAsync("d2h", 64 * MIB, "gate", True), ops.EventRecord("open", "gate")]
        for name in NAMES[2 : 2 + waiting]:
            calls += [ops.StreamWaitEvent("open", name), kernel(name)]
        timeline = simulate_host(program([*calls, copy, kernel("free")], streams=STREAMS), textbook(**retry))
        lane, kind = timeline.lanes.index("stream[1]"), KINDS.index("kernel")
        at = (timeline.lane == lane) & (timeline.kind == kind)
        assert timeline.start_s[at] == pytest.approx([COPY_S / 8 + GOLDEN_RATIO * every])
