"""What the lanes of streams say about waiting: for what, from when to when."""

from __future__ import annotations

import pytest

from gpusim.host import simulate_host
from gpusim.program import host as ops
from tests.host.profiles import textbook
from tests.host.test_streams import COPY_S, FULL, MIB, program


def waits(calls, stream, profile=None, **rest):
    """(reason, from, to) of each wait on a stream's lane, in times of one copy."""
    timeline = simulate_host(program(calls, **rest), profile or textbook())
    found = [i for i in timeline if i.lane == f"stream[{stream}]" and i.kind == "wait"]
    return [(i.reason, pytest.approx(i.start_s / COPY_S), pytest.approx(i.end_s / COPY_S)) for i in found]


def kernel(times, stream):
    """A kernel of a single block that takes so many times as long as a copy."""
    return ops.Launch(ops.Work(ops.FixedCost(times * COPY_S)), stream)


def after(stream, other):
    """What comes next in ``other`` waits for what is in ``stream`` now."""
    return ops.EventRecord("e", stream), ops.StreamWaitEvent("e", other)


def test_kernel_waits_for_an_event_and_then_for_room():
    """B may start when a's kernel ends at L; by then c's has taken all SMs, until 2 L."""
    calls = [ops.Launch(FULL, "a"), ops.Launch(FULL, "c"), *after("a", "b"), ops.Launch(FULL, "b")]
    assert waits(calls, 1) == [("event", 0, 1), ("cta_slot", 1, 2)]
    assert waits(calls, 2) == [("cta_slot", 0, 1)]


def test_copy_waits_for_an_event_and_then_for_its_engine():
    """A kernel of L/2 sets it free while another copy has the engine until L."""
    copies = [ops.MemcpyAsync("h2d", MIB, name) for name in "cb"]
    calls = [kernel(0.5, "a"), copies[0], *after("a", "b"), copies[1]]
    assert waits(calls, 1) == [("event", 0, 0.5), ("copy_engine_busy", 0.5, 1)]


def test_copy_on_the_device_waits_for_an_event_and_then_for_room():
    """As a kernel does."""
    calls = [ops.Launch(FULL, "a"), ops.Launch(FULL, "c"), *after("a", "b"), ops.MemcpyAsync("d2d", MIB, "b")]
    on_sms = textbook(copy__d2d_bandwidth=32e9, copy__d2d_block=4096)
    assert waits(calls, 1, on_sms) == [("event", 0, 1), ("cta_slot", 1, 2)]


def test_copy_of_ordinary_memory_waits_as_its_first_part_does():
    """Two parts behind a kernel of 3 L; that the second one waits for the first is within the copy."""
    calls = [kernel(3, "a"), *after("a", "b"), ops.MemcpyAsync("d2h", 2 * MIB, "b", pinned=False)]
    assert waits(calls, 1) == [("event", 0, 3)]


def test_host_function_waits_for_another_streams():
    """The driver's thread calls one after the other: the second one's turn comes at 2 L."""
    calls = [ops.HostFunc("a", 2 * COPY_S), ops.HostFunc("b", COPY_S)]
    assert waits(calls, 0) == []
    assert waits(calls, 1) == [("stream_order", 0, 2)]


def test_workers_behind_the_legacy_stream_wait_for_it_and_not_for_room():
    """Their kernels follow at L; the second one's comes through the front end a tenth of L after the first's."""
    streams = ops.Stream("l", "legacy"), ops.Stream("a"), ops.Stream("b")
    calls = [kernel(1, "l"), kernel(1, "a"), kernel(1, "b")]
    profile = textbook(stream__dispatch=COPY_S / 10)
    assert waits(calls, 1, profile, streams=streams) == [("stream_order", 0, 1)]
    assert waits(calls, 2, profile, streams=streams) == [("stream_order", 0, 1), ("cta_slot", 1, 1.1)]
