"""Memsets: closed forms on the textbook device, which sets 2 TB/s where it copies 1 TB/s."""

from __future__ import annotations

import pytest

from gpusim.hardware.profile import load_profile
from gpusim.host import simulate_host
from gpusim.program import host as ops
from tests.host.profiles import textbook

MIB = 1 << 20
SIZE = 32 * MIB
SET_S = SIZE / 2e12
STREAMS = tuple(ops.Stream(name, "non_blocking") for name in ("a", "b"))


def device(hbm=2e12, **changes):
    """Of whose SMs each has room for four blocks of 512 threads."""
    blocks = {"copy__d2d_threads": 512, "copy__d2d_block": 4096}
    return textbook(**{**blocks, "hbm__read_bandwidth": hbm, "hbm__write_bandwidth": hbm, **changes})


def run(calls, profile, graphs=()):
    program = ops.HostProgram("test", (ops.HostThread("t", tuple(calls)),), STREAMS, graphs=graphs)
    return simulate_host(program, profile)


def ends(calls, profile=None):
    """When each stream's last work has ended, in times of a memset, in the order of `STREAMS`."""
    work = [i for i in run(calls, profile or device()) if i.kind in ("kernel", "copy") and i.lane.startswith("stream")]
    lanes = sorted({i.lane for i in work})
    return [pytest.approx(max(i.end_s for i in work if i.lane == lane) / SET_S, rel=1e-3) for lane in lanes]


def spin(times, stream):
    """A kernel of one warp that takes so many times as long as a memset."""
    return ops.Launch(ops.Work(ops.FixedCost(times * SET_S), 1, 32), stream)


@pytest.mark.parametrize("size", [4, 4096, MIB, SIZE, 20 * SIZE])
@pytest.mark.parametrize("block", [0, 4096], ids=["on an engine", "on SMs"])
def test_it_takes_its_call_its_overhead_and_its_bytes(size, block):
    """T = c + o + n / B, with an engine for copies within the device or without."""
    calls = {f"host__cupy__memset_{name}": 2e-6 for name in ("async", "small")}
    profile = device(copy__d2d_block=block, copy__memset_overhead=3e-6, **calls)
    assert run([ops.MemsetAsync(size, "a")], profile).total_s == pytest.approx(5e-6 + size / 2e12, rel=1e-3)


def test_it_is_drawn_as_a_copy_within_the_device():
    """On its stream and where such copies are."""
    timeline = run([ops.MemsetAsync(SIZE, "a")], device())
    drawn = [(i.lane, i.kind, i.bytes) for i in timeline if i.bytes]
    assert sorted(drawn) == [("copy_engine[d2d]", "transfer", SIZE), ("stream[0]", "copy", SIZE)]


@pytest.mark.parametrize(("size", "start"), [(SIZE, 1), (MIB, 0)])
def test_what_comes_behind_waits_for_the_last_blocks(size, start):
    """Of 32 MiB they are placed at the end; those of 1 MiB are 256, which all find room at once."""
    assert ends([ops.MemsetAsync(size, "a"), spin(2, "b")]) == [size / SIZE, start + 2]


@pytest.mark.parametrize(("hbm", "expected"), [(2e12, [4, 3]), (4e12, [3.5, 2.5])])
def test_it_only_writes_and_shares_hbm_with_kernels(hbm, expected):
    """A kernel that keeps HBM busy for 3 leaves room for half of its blocks, which want half of HBM, or a quarter.

    Both have 2/3 or 4/5 of their speed until the memset ends, at 2 / (2/3) or 2 / (4/5).
    """
    kernel = ops.Launch(ops.Work(ops.RooflineCost(0.0, 3 * SET_S * hbm), 132, 1024), "a")
    assert ends([kernel, ops.MemsetAsync(SIZE, "b")], device(hbm)) == expected


def test_a_copy_and_a_memset_take_turns():
    """A copy of as many bytes takes two times as long."""
    assert ends([ops.MemcpyAsync("d2d", SIZE, "a"), ops.MemsetAsync(SIZE, "b")]) == [2, 3]


@pytest.mark.parametrize("node", [0.0, 1.0])
def test_in_a_graph_it_is_a_node(node):
    """Two memsets, from one to the next as from kernel to kernel; a call of two nodes."""
    graph = ops.Graph("g", (ops.MemsetAsync(SIZE, "a"), ops.MemsetAsync(SIZE, "a")))
    profile = device(graph__node=node * SET_S, host__cupy__graph_launch_node=SET_S)
    total_s = run([ops.GraphLaunch("g", "a")], profile, (graph,)).total_s
    assert total_s == pytest.approx((2 + 2 + node) * SET_S, rel=1e-3)


@pytest.mark.parametrize("size", [4, MIB, 64 * MIB, 1024 * MIB])
def test_alone_on_an_h200_it_takes_what_its_profile_says(size):
    """However many waves its blocks come in."""
    profile = load_profile("h200_sxm")
    (work,) = (i for i in run([ops.MemsetAsync(size, "a")], profile) if i.kind == "copy")
    fixed_s = profile.value("copy.memset_overhead") + profile.seconds_of("cta.restart")
    expected_s = fixed_s + size / profile.value("copy.memset_bandwidth")
    assert work.end_s - work.start_s == pytest.approx(expected_s, rel=0.02)


def test_a_few_bytes_are_a_command_and_no_launch():
    """Its call takes a third of the time."""
    profile = load_profile("h200_sxm")
    for size, name in ((64 << 10, "async"), (4 << 10, "small")):
        call = next(i for i in run([ops.MemsetAsync(size, "a")], profile) if i.lane.startswith("host"))
        assert call.end_s - call.start_s == pytest.approx(profile.value(f"host.cupy.memset_{name}"))
