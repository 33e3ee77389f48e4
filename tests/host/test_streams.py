"""Streams, engines, synchronisation and deadlocks on the textbook device, against closed forms."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from gpusim.deadlock import Deadlock
from gpusim.errors import DoesNotFit, GpusimError
from gpusim.host import simulate_host
from gpusim.host.device.handover import GOLDEN_RATIO
from gpusim.program import host as ops
from tests.host.profiles import textbook

MIB = 1 << 20
COPY_S = MIB / 32e9
"""One MiB over the link, one way."""
STREAMS = tuple(ops.Stream(name, "non_blocking") for name in "abcd")
FULL = ops.Work(ops.FixedCost(COPY_S), grid=264, threads=1024)


def program(*threads, **rest) -> ops.HostProgram:
    hosts = tuple(ops.HostThread(f"t{i}", tuple(thread)) for i, thread in enumerate(threads))
    return ops.HostProgram("test", hosts, **{"streams": STREAMS, **rest})


def total(*threads, profile=None, **rest) -> float:
    return simulate_host(program(*threads, **rest), profile or textbook()).total_s


def pipeline(chunks: int, streams: int, pinned: bool = True) -> list:
    names = "abcd"[:streams]
    return [
        op
        for i in range(chunks)
        for op in (
            ops.MemcpyAsync("h2d", MIB, names[i % streams], pinned),
            ops.Launch(FULL, names[i % streams]),
            ops.MemcpyAsync("d2h", MIB, names[i % streams], pinned),
        )
    ]


@pytest.mark.parametrize("chunks", [1, 4, 9])
def test_one_stream_takes_turns(chunks):
    """Nothing overlaps: T = chunks (L + C + L)."""
    assert total(pipeline(chunks, 1)) == pytest.approx(3 * chunks * COPY_S)


@pytest.mark.parametrize("chunks", [3, 6, 12])
def test_three_streams_overlap_three_ways(chunks):
    """Three units work on three chunks: T = (chunks + 2) L for equal stages."""
    assert total(pipeline(chunks, 3)) == pytest.approx((chunks + 2) * COPY_S)


def test_two_symmetric_streams_do_not_run_in_lockstep():
    """An engine serves one stream's copy first, so the other's kernel overlaps it: between ideal and serial."""
    serial, ideal = 3 * 8 * COPY_S, (8 + 2) * COPY_S
    assert ideal < total(pipeline(8, 2)) < 0.6 * serial


@pytest.mark.parametrize(("engines", "expected"), [(1, 3.0), (2, 2.0), (3, 1.0)])
def test_engines_decide_how_many_copies_run_at_once(engines, expected):
    """One copy each way and one to a peer: in turn, two at a time (peer behind D2H), all at once."""
    profile = textbook(copy__engines=engines, copy__p2p_bandwidth=32e9)
    calls = [ops.MemcpyAsync("h2d", MIB, "a"), ops.MemcpyAsync("d2h", MIB, "b"), ops.MemcpyAsync("p2p", MIB, "c")]
    assert total(calls, profile=profile) == pytest.approx(expected * COPY_S)


def test_both_directions_slow_each_other_down_while_both_are_at_work():
    """24 and 16 of 32 GB/s beside each other: in takes 4/3 L; by then out has 1/3 left, which runs alone: 5/3 L."""
    calls = [ops.MemcpyAsync("h2d", MIB, "a"), ops.MemcpyAsync("d2h", MIB, "b")]
    beside = textbook(copy__h2d_duplex_bandwidth=24e9, copy__d2h_duplex_bandwidth=16e9)
    assert total(calls[:1], profile=beside) == pytest.approx(COPY_S)
    assert total(calls, profile=beside) == pytest.approx(COPY_S * 5 / 3)


def test_a_queue_that_waits_for_another_engine_looks_only_now_and_then():
    """A kernel of 10 behind a copy of L / 8 starts between two looks, 10 apart; between kernels nobody looks."""
    retry = textbook(stream__retry=10e-6)
    short = ops.MemcpyAsync("h2d", MIB // 8, "a")
    kernel = ops.Launch(ops.Work(ops.FixedCost(10e-6)), "a")
    assert total([short, kernel], profile=retry) == pytest.approx(COPY_S / 8 + GOLDEN_RATIO * 10e-6 + 10e-6)
    assert total([kernel, kernel], profile=retry) == pytest.approx(20e-6)


def test_pageable_copy_in_is_staged_by_the_host_while_the_device_copies():
    """Four buffers of 2 L each on the host, a copy of L behind each: T = 4 * 2 L + L; the call returns after 8 L."""
    calls = [ops.MemcpyAsync("h2d", 4 * MIB, "a", pinned=False)]
    assert total(calls) == pytest.approx(9 * COPY_S)
    assert total([*calls, ops.HostWork(COPY_S)]) == pytest.approx(9 * COPY_S)


def test_pageable_copy_out_is_emptied_by_the_host_behind_the_device():
    """The first buffer takes L, the host then empties four for 2 L each: T = L + 8 L, all of it inside the call."""
    calls = [ops.MemcpyAsync("d2h", 4 * MIB, "a", pinned=False)]
    assert total(calls) == pytest.approx(9 * COPY_S)
    assert total([*calls, ops.HostWork(COPY_S)]) == pytest.approx(10 * COPY_S)


def test_pageable_copy_in_waits_for_the_stream_only_when_the_buffers_are_full():
    """Behind a kernel of 20 L one buffer of two holds the host for 2 L; three until the first is copied, at 23 L."""
    kernel = ops.Launch(ops.Work(ops.FixedCost(20 * COPY_S)), "a")
    one, three = (ops.MemcpyAsync("h2d", n * MIB, "a", pinned=False) for n in (1, 3))
    mark = ops.Malloc("x", 1)

    def marked_s(copy) -> float:
        timeline = simulate_host(program([kernel, copy, mark]), textbook(alloc__small_take=1e-6))
        return next(i.start_s for i in timeline if i.kind == "alloc")

    assert marked_s(one) == pytest.approx(2 * COPY_S)
    assert marked_s(three) == pytest.approx(23 * COPY_S)


def test_event_orders_two_streams():
    """B waits for A's event: T = A + B although they are on different streams; C runs beside them."""
    small = ops.Work(ops.FixedCost(COPY_S))
    calls = [
        ops.Launch(small, "a"), ops.EventRecord("e", "a"), ops.StreamWaitEvent("e", "b"), ops.Launch(small, "b"),
        ops.Launch(small, "c"),
    ]  # fmt: skip
    assert total(calls) == pytest.approx(2 * COPY_S)


def test_waiting_for_an_event_before_its_record_is_no_wait():
    """As in CUDA, only a record that was issued before counts."""
    small = ops.Work(ops.FixedCost(COPY_S))
    calls = [ops.StreamWaitEvent("e", "b"), ops.Launch(small, "b"), ops.Launch(small, "a"), ops.EventRecord("e", "a")]
    assert total(calls) == pytest.approx(COPY_S)


@pytest.mark.parametrize(("kind", "expected"), [("blocking", 3.0), ("non_blocking", 1.0)])
def test_legacy_stream_is_a_barrier_for_blocking_streams_only(kind, expected):
    """kernel(a), kernel(legacy), kernel(b): in a row, or all at once."""
    small = ops.Work(ops.FixedCost(COPY_S))
    streams = (ops.Stream("a", kind), ops.Stream("zero", "legacy"), ops.Stream("b", kind))
    calls = [ops.Launch(small, "a"), ops.Launch(small, "zero"), ops.Launch(small, "b")]
    assert total(calls, streams=streams) == pytest.approx(expected * COPY_S)


def test_cuda_free_is_a_device_wide_barrier():
    """The kernel enqueued after cudaFree starts when the one before it has ended, on another stream too."""
    small = ops.Work(ops.FixedCost(COPY_S))
    calls = [ops.Malloc("x", MIB), ops.Launch(small, "a"), ops.Free("x"), ops.Launch(small, "b")]
    assert total(calls) == pytest.approx(2 * COPY_S, rel=1e-3)
    assert total([op for op in calls if not isinstance(op, ops.Free)]) == pytest.approx(COPY_S, rel=1e-3)


def test_launches_are_host_bound_when_the_call_takes_longer_than_the_kernel():
    """Calls of 5 us each, kernels of 1 us: T = 5 n + 1."""
    quick = ops.Work(ops.FixedCost(1e-6))
    profile = textbook(host__cupy__launch=5e-6)
    assert total([ops.Launch(quick, "a")] * 10, profile=profile) == pytest.approx(51e-6)


def test_graph_replaces_the_calls_of_its_nodes():
    """One call of 5 us for ten kernels of 1 us: T = 5 + 10."""
    quick = ops.Work(ops.FixedCost(1e-6))
    graph = ops.Graph("g", (ops.Launch(quick, "a"),) * 10)
    profile = textbook(host__cupy__graph_launch=5e-6, host__cupy__launch=5e-6)
    assert total([ops.GraphLaunch("g", "a")], graphs=(graph,), profile=profile) == pytest.approx(15e-6)


@pytest.mark.parametrize(("slots", "expected"), [(1, 4 * 2.0), (2, 4 + 1.0)])
def test_ring_of_slots_lets_the_host_fill_while_the_device_copies(slots, expected):
    """Filling takes L, the copy L: with one slot they alternate, with two they overlap."""
    calls = [
        op
        for _ in range(4)
        for op in (
            ops.AcquireSlot("ring"), ops.HostWork(COPY_S), ops.MemcpyAsync("h2d", MIB, "a"),
            ops.HostFunc("a", releases="ring"),
        )
    ]  # fmt: skip
    assert total(calls, slots=(ops.Slots("ring", slots),)) == pytest.approx(expected * COPY_S)


class TestSharingSms:
    """Blocks of several kernels on the SMs."""

    def test_small_footprints_run_side_by_side(self):
        """8 warps, 32 KiB and 64 registers each: four kernels of one block per SM fit together."""
        work = ops.Work(ops.FixedCost(COPY_S), grid=132, threads=256, registers=64, shared_bytes=32 << 10)
        assert total([ops.Launch(work, name) for name in "abcd"]) == pytest.approx(COPY_S)

    def test_large_footprints_take_turns(self):
        """48 warps and 200 KiB each: one block per SM at a time."""
        work = ops.Work(ops.FixedCost(COPY_S), grid=132, threads=1024, shared_bytes=200 << 10)
        assert total([ops.Launch(work, name) for name in "abcd"]) == pytest.approx(4 * COPY_S)

    @pytest.mark.parametrize(("grids", "rounds"), [(128, 1), (129, 2)])
    def test_the_129th_grid_waits(self, grids, rounds):
        """128 grids are resident at most."""
        streams = tuple(ops.Stream(f"s{i}", "non_blocking") for i in range(grids))
        one = ops.Work(ops.FixedCost(COPY_S))
        assert total([ops.Launch(one, s.name) for s in streams], streams=streams) == pytest.approx(rounds * COPY_S)

    @pytest.mark.parametrize(("priority", "end"), [(0, 4.5), (-5, 1.5)])
    def test_priority_takes_over_when_blocks_end(self, priority, end):
        """Four waves under way; a kernel of one half wave's time comes during the first."""
        long = ops.Work(ops.FixedCost(COPY_S), grid=4 * 264, threads=1024)
        short = ops.Work(ops.FixedCost(COPY_S / 2), grid=264, threads=1024, name="short")
        streams = (ops.Stream("low", "non_blocking"), ops.Stream("high", "non_blocking", priority))
        calls = [ops.Launch(long, "low"), ops.HostWork(COPY_S / 2), ops.Launch(short, "high")]
        timeline = simulate_host(program(calls, streams=streams), textbook())
        mine = [i for i in timeline if i.lane == "stream[1]" and i.kind == "kernel"]
        assert mine[0].end_s == pytest.approx(end * COPY_S)

    def test_a_block_that_fits_no_sm_is_refused(self):
        """Demand, bound and lever are named."""
        work = ops.Work(ops.FixedCost(COPY_S), shared_bytes=400 << 10)
        with pytest.raises(DoesNotFit, match="shared memory"):
            total([ops.Launch(work, "a")])


class TestDeadlocks:
    """Circular waits are errors that name the circle."""

    def test_host_function_that_waits_for_its_own_stream(self):
        """Forbidden by CUDA."""
        with pytest.raises(Deadlock, match=r"cycle: host function .* -> host function"):
            total([ops.HostFunc("a", syncs="a")])

    def test_function_that_waits_for_what_comes_behind_it(self):
        """The thread makes its second call at once; the circle goes through both."""
        calls = [ops.HostFunc("a", syncs="a"), ops.Launch(FULL, "a")]
        with pytest.raises(Deadlock) as caught:
            total(calls, profile=textbook(host__cupy__host_func_run=1e-6))
        assert [name.partition(" (")[0] for name in caught.value.cycle] == [
            "host function", FULL.name, "host function",
        ]  # fmt: skip

    def test_circle_through_events_of_two_streams(self):
        """A's function waits for b, b waits for an event behind that function."""
        small = ops.Work(ops.FixedCost(COPY_S))
        calls = [
            ops.HostFunc("a", syncs="b"),
            ops.EventRecord("e", "a"),
            ops.StreamWaitEvent("e", "b"),
            ops.Launch(small, "b"),
        ]
        with pytest.raises(Deadlock) as caught:
            total(calls)
        assert "on stream 'a' waits for kernel (#3) on stream 'b' (host sync)" in str(caught.value)
        assert "a host function may not wait for the device: let a thread do so" in str(caught.value)
        assert caught.value.cycle

    def test_many_calls_behind_a_circle_are_no_lines(self):
        """The circle and the thread that waits for it; the others are counted."""
        calls = [call for _ in range(200) for call in (ops.HostFunc("a", syncs="a"), ops.Launch(FULL, "a"))]
        with pytest.raises(Deadlock) as caught:
            total(calls)
        lines = str(caught.value).splitlines()
        assert len(lines) <= 6
        assert lines[1].startswith("  host function (#1) on stream 'a' waits for ")
        assert "\n  thread " in str(caught.value)
        assert re.search(r"\n  39\d more wait behind these\n  cycle: host function", str(caught.value))
        assert len(max(lines, key=len)) < 500

    def test_ring_that_nobody_gives_back_to(self):
        """One slot, taken twice."""
        with pytest.raises(Deadlock, match="a free slot of 'ring'"):
            total([ops.AcquireSlot("ring"), ops.AcquireSlot("ring")], slots=(ops.Slots("ring", 1),))


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ([ops.Launch(FULL, "e")], "stream 'e' is not declared"),
        ([ops.StreamWaitEvent("never", "a")], "never recorded"),
        ([ops.Free("x")], "was not allocated"),
        ([ops.Malloc("x", 1), ops.Malloc("x", 1)], "allocated twice"),
        ([ops.MallocAsync("x", 1, "a")], "pool 'default' is not declared"),
        ([ops.GraphLaunch("g", "a")], "graph 'g' is not declared"),
        ([], "calls anything"),
    ],
)
def test_calls_the_runtime_would_reject_are_explained(calls, message):
    with pytest.raises(GpusimError, match=message):
        total(calls)


def test_lanes_are_sequential():
    """One lane, one row: no two intervals of a lane overlap."""
    timeline = simulate_host(program(pipeline(12, 3)), textbook(host__cupy__launch=5e-6, host__cupy__memcpy_async=3e-6))
    for lane in timeline.lanes:
        rows = sorted((i.start_s, i.end_s) for i in timeline if i.lane == lane)
        assert all(end <= start + 1e-12 for (_, end), (start, _) in pairwise(rows))
