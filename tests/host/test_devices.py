"""Several devices on the textbook device: what each has of its own, and what lies between them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gpusim.deadlock import Deadlock
from gpusim.errors import DoesNotFit, GpusimError
from gpusim.host import simulate_host
from gpusim.program import host as ops
from gpusim.timeline.bottleneck import bottleneck
from tests.host.profiles import textbook

MIB = 1 << 20
PEER = 300e9
"""Bytes per second from one device to another, on the textbook device."""
KERNEL_S = 1e-3
FULL = ops.Work(ops.FixedCost(KERNEL_S), grid=264, threads=1024)
STREAMS = tuple(ops.Stream(f"{name}{device}", "non_blocking", device=device) for name in "ab" for device in (0, 1))
HOP, LOOK = 3e-6, 4e-6


def timeline(*calls: ops.HostOp | Iterable[ops.HostOp], streams=STREAMS, profile=None, **rest):
    flat = tuple(op for call in calls for op in ([call] if not isinstance(call, list) else call))
    program = ops.HostProgram("test", (ops.HostThread("t", flat),), streams=streams, **rest)
    return simulate_host(program, profile or textbook())


def kernel(device: int, stream: str = "a") -> list[ops.HostOp]:
    return [ops.SetDevice(device), ops.Launch(FULL, f"{stream}{device}")]


def then(event: str, first: str, second: str) -> list[ops.HostOp]:
    return [ops.EventRecord(event, first), ops.StreamWaitEvent(event, second)]


def copy(source: int, size: int = 300 * MIB, stream: str = "b", pull: bool = False) -> ops.MemcpyAsync:
    own, other = (1 - source, source) if pull else (source, 1 - source)
    return ops.MemcpyAsync("p2p", size, f"{stream}{own}", peer=other, pull=pull)


def test_each_device_has_sms_of_its_own():
    """Two kernels that fill a device take turns on one and none on two."""
    assert timeline(kernel(0), kernel(1)).total_s == pytest.approx(KERNEL_S)
    assert timeline(kernel(0), kernel(0, "b")).total_s == pytest.approx(2 * KERNEL_S)


def test_lanes_say_which_device():
    """Only where there are several; streams keep the numbers of the program."""
    two = timeline(kernel(0), copy(0), kernel(1))
    assert set(two.lanes) - {"host[0]"} == {
        "gpu[0].stream[0]", "gpu[0].stream[2]", "gpu[0].copy_engine[p2p]", "gpu[1].stream[1]",
    }  # fmt: skip
    one = timeline(kernel(0), streams=STREAMS[::2])
    assert "stream[0]" in one.lanes


@pytest.mark.parametrize("pull", [False, True])
def test_a_copy_is_made_by_the_device_that_is_read(pull):
    """Whoever asks: two the same way take turns, one each way do not."""
    second = copy(0, stream="a", pull=pull)
    assert timeline(copy(0), second).total_s == pytest.approx(2 * 300 * MIB / PEER)
    assert timeline(copy(0), copy(1, stream="a", pull=pull)).total_s == pytest.approx(300 * MIB / PEER)
    engines = {row.lane for row in timeline(copy(1, pull=pull)) if row.kind == "transfer"}
    assert engines == {"gpu[1].copy_engine[p2p]"}


def test_pushed_and_pulled_copies_of_one_stream_follow_each_other():
    """Each on an engine of its own device."""
    assert timeline(copy(0), copy(1, pull=True)).total_s == pytest.approx(2 * 300 * MIB / PEER)
    idle = timeline(copy(0, stream="a"), copy(1, pull=True), streams=STREAMS[::2])
    assert idle.total_s == pytest.approx(300 * MIB / PEER)


def test_what_several_devices_send_to_one_shares_its_link():
    """And what one sends to several goes one after the other, as it has one engine."""
    streams = tuple(ops.Stream(f"s{device}", "non_blocking", device=device) for device in range(4))
    into = [ops.MemcpyAsync("p2p", 100 * MIB, f"s{device}", peer=0) for device in (1, 2, 3)]
    out = [ops.MemcpyAsync("p2p", 100 * MIB, "s0", peer=device) for device in (1, 2, 3)]
    apart = [ops.MemcpyAsync("p2p", 100 * MIB, f"s{device}", peer=(device + 1) % 4) for device in range(4)]
    for calls, seconds in ((into, 300 * MIB / PEER), (out, 300 * MIB / PEER), (apart, 100 * MIB / PEER)):
        assert timeline(calls, streams=streams).total_s == pytest.approx(seconds)


def test_copies_between_devices_do_not_use_the_link_to_the_host():
    over_link = ops.MemcpyAsync("h2d", 64 * MIB, "a0")
    assert timeline(copy(0), over_link).total_s == pytest.approx(64 * MIB / 32e9)


def test_each_device_has_a_link_of_its_own():
    calls = [ops.MemcpyAsync("h2d", 64 * MIB, f"a{device}") for device in (0, 1)]
    assert timeline(calls).total_s == pytest.approx(64 * MIB / 32e9)


def test_a_wait_for_another_device_takes_a_hop_and_a_look():
    """At least the hop, at most a look besides; on one device nothing of both."""
    profile = textbook(stream__peer_hop=HOP, stream__peer_retry=LOOK)
    across = timeline(kernel(0), then("e", "a0", "a1"), kernel(1), profile=profile).total_s
    assert HOP <= across - 2 * KERNEL_S <= HOP + LOOK
    same = timeline(kernel(0), then("e", "a0", "b0"), kernel(0, "b"), profile=profile).total_s
    assert same == pytest.approx(2 * KERNEL_S)


def test_a_pulled_copy_is_asked_for_and_told_across():
    """Pushed it begins where the tensor is; pulled there is a hop each way."""
    profile = textbook(stream__peer_hop=HOP)
    bytes_s = 300 * MIB / PEER
    push = timeline(copy(0), then("e", "b0", "b0"), profile=profile)
    pull = timeline(copy(0, pull=True), ops.MemcpyAsync("d2h", 4, "b1"), profile=profile)
    assert push.total_s == pytest.approx(bytes_s)
    assert pull.total_s == pytest.approx(bytes_s + 2 * HOP, rel=1e-3)


def test_a_synchronisation_is_of_the_current_device():
    """The other one's kernel is not waited for, until the end."""
    calls = [*kernel(1), ops.SetDevice(0), ops.DeviceSync(), ops.HostWork(KERNEL_S)]
    assert timeline(calls).total_s == pytest.approx(KERNEL_S)
    calls = [*kernel(1), ops.DeviceSync(), ops.HostWork(KERNEL_S)]
    assert timeline(calls).total_s == pytest.approx(2 * KERNEL_S)


def test_an_allocation_is_on_the_current_device():
    """Two buffers of 50 GB do not fit on one textbook device of 80 GB, and do on two."""
    size = 50 * 10**9

    def both(second: int) -> float:
        calls = [ops.Malloc("x", size), ops.SetDevice(second), ops.Malloc("y", size)]
        return timeline(calls, profile=textbook(hbm__capacity=80e9)).total_s

    assert both(1) >= 0
    with pytest.raises(DoesNotFit, match="device memory"):
        both(0)


def test_legacy_streams_order_their_own_device():
    streams = (
        *STREAMS,
        ops.Stream("null0", "legacy"),
        ops.Stream("null1", "legacy", device=1),
        ops.Stream("c1", device=1),
    )
    calls = [ops.Launch(FULL, "null0"), ops.SetDevice(1), ops.Launch(FULL, "c1")]
    assert timeline(calls, streams=streams).total_s == pytest.approx(KERNEL_S)
    calls = [ops.SetDevice(1), ops.Launch(FULL, "null1"), ops.Launch(FULL, "c1")]
    assert timeline(calls, streams=streams).total_s == pytest.approx(2 * KERNEL_S)


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([ops.Launch(FULL, "a1")], "launched into stream 'a1' of device 1 while device 0 is the thread's current one"),
        ([ops.SetDevice(2)], "there is no device 2: streams and memory of the program are on 0 to 1"),
        ([copy(0), ops.MemcpyAsync("p2p", 4, "a0", peer=0)], "copy to device 0 in stream 'a0' of device 0"),
        ([ops.MemcpyAsync("p2p", 4, "a0", pull=True)], "copy from a device that is not named in stream 'a0'"),
        ([ops.EventRecord("e", "a0"), ops.EventRecord("e", "a1")], "event 'e' is recorded on device 0 and on device 1"),
        ([ops.MallocAsync("x", 4, "a1")], "pool 'default' is on device 0, and stream 'a1' on device 1"),
        ([ops.SetDevice(1), ops.Memcpy("h2d", 4)], "declare a stream of kind legacy"),
    ],
)
def test_what_cuda_refuses_is_refused(calls, said):
    streams = (*STREAMS, ops.Stream("null", "legacy"))
    with pytest.raises(GpusimError, match=said):
        timeline(calls, streams=streams, pools=(ops.Pool("default"),))


def test_a_graph_is_of_one_device():
    graph = ops.Graph("g", (ops.Launch(FULL, "a0"), *then("e", "a0", "a1"), ops.Launch(FULL, "a1")))
    with pytest.raises(GpusimError, match="graph 'g': stream 'a1' is on another device than 'a0'"):
        timeline(ops.GraphLaunch("g", "a0"), graphs=(graph,))


def test_a_circle_over_two_devices_is_named():
    """Each device's stream waits for a function of the other's that waits for it."""
    functions = [ops.HostFunc("a0", syncs="a1"), ops.HostFunc("a1", syncs="a0")]
    calls = [*kernel(1), *then("e", "a1", "a0"), ops.HostFunc("a1", syncs="a0"), *then("f", "a1", "a0"), functions[0]]
    with pytest.raises(Deadlock, match="stream 'a"):
        timeline([*calls, *then("g", "a0", "a1"), ops.HostFunc("a1", syncs="a1")])


def test_bottleneck_names_the_device():
    busy = timeline(kernel(0), kernel(1), kernel(1), kernel(1))
    assert bottleneck(busy).name == "kernels of GPU 1"
    assert bottleneck(timeline(copy(1), copy(1))).name == "copy engine P2P of GPU 1"
