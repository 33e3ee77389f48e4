"""Copies within the device beside kernels: closed forms on the textbook device, and what was measured on an H200."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile
from gpusim.host import simulate_host
from gpusim.program import host as ops
from gpusim.scenario import loads, predict
from tests.host.profiles import textbook

MIB = 1 << 20
SIZE = 32 * MIB
COPY_S = SIZE / 1e12
"""One such copy alone. HBM is busy with it all the time if it reads and writes 2 TB/s."""
STREAMS = tuple(ops.Stream(name, "non_blocking", priority) for name, priority in (("a", 0), ("b", 0), ("high", -5)))


def device(hbm=2e12, **changes):
    """Copies in blocks of 512 threads, of which each SM has room for four."""
    copies = {"copy__d2d_threads": 512, "copy__d2d_block": 4096}
    return textbook(**{**copies, "hbm__read_bandwidth": hbm, "hbm__write_bandwidth": hbm, **changes})


def copy(stream, size=SIZE):
    return ops.MemcpyAsync("d2d", size, stream)


def spin(times, stream, grid=1, threads=32):
    """A kernel that takes so many times as long as a copy, whatever runs beside it."""
    return ops.Launch(ops.Work(ops.FixedCost(times * COPY_S), grid, threads), stream)


def moving(times, stream, grid=132, threads=1024, flop=0.0, hbm=2e12):
    """A kernel that moves so many times as much as HBM does during a copy."""
    return ops.Launch(ops.Work(ops.RooflineCost(flop, times * COPY_S * hbm), grid, threads), stream)


def ends(calls, profile=None, rel=1e-3):
    """When each stream's last work has ended, in times of a copy, in the order of `STREAMS`."""
    program = ops.HostProgram("test", (ops.HostThread("t", tuple(calls)),), STREAMS)
    timeline = simulate_host(program, profile or device())
    work = [i for i in timeline if i.kind in ("kernel", "copy")]
    lanes = sorted({i.lane for i in work})
    return [pytest.approx(max(i.end_s for i in work if i.lane == lane) / COPY_S, rel=rel) for lane in lanes]


@pytest.mark.parametrize("size", [0, 4, 4096, MIB, 3 * MIB, SIZE, 20 * SIZE])
def test_alone_a_copy_takes_its_overhead_and_its_bytes(size):
    """However many blocks it has, and beside one that leaves less room somewhere."""
    alone = (COPY_S + size / 1e12) / COPY_S
    profile = device(copy__d2d_overhead=COPY_S)
    assert [alone] == ends([copy("a", size)], profile)
    if size:
        assert [0.5, alone] == ends([spin(0.5, "a"), copy("b", size)], profile)


@pytest.mark.parametrize(("size", "start"), [(SIZE, 1.0), (MIB, 0.0)])
def test_what_comes_behind_waits_for_the_last_blocks(size, start):
    """Of 32 MiB they are placed at the end; those of 1 MiB are 256, which all find room at once."""
    assert ends([copy("a", size), spin(2, "b")]) == [size / SIZE, start + 2]


def test_a_copy_waits_for_room_behind_a_kernel_and_holds_up_the_next():
    """K1 fills the SMs until 1, the copy of b is next, K2 comes behind it: 1 + 1 + 1."""
    calls = [spin(1, "a", 264, 1024), copy("b"), spin(1, "a", 264, 1024)]
    assert ends(calls) == [3, 2]


def test_a_kernel_of_higher_priority_need_not_wait_for_the_copy():
    """Its turn comes when blocks end: at the latest a 16th later."""
    calls = [copy("a"), ops.HostWork(0.5 * COPY_S), spin(1, "high", 264, 1024)]
    first, kernel = ends(calls)
    assert 1.5 <= kernel.expected <= 1.5 + 1 / 16
    assert first == 2


@pytest.mark.parametrize(("grid", "rate"), [(132, 1.0), (264, 0.5)], ids=["two per SM", "one per SM"])
def test_a_copy_is_slower_only_with_less_than_enough_of_its_blocks(grid, rate):
    """Half of them are enough: beside 1024 threads on each SM it is as fast as alone, beside 1536 half as fast.

    If all are, it has half and a quarter of its rate. The last few blocks are not held to it.
    """
    calls = [spin(9, "a", grid, 1024 if grid == 132 else 768), copy("b")]
    assert ends(calls, device(copy__d2d_enough=0.5), rel=0.04) == [9, 1 / rate]
    assert ends(calls, rel=0.04) == [9, 2 / rate]


def test_copy_and_kernel_share_hbm():
    """Alone 2 and 1; at two thirds of their speed, the copy on half of its blocks, both end at 3."""
    assert ends([moving(2, "a"), copy("b")]) == [3, 3]
    assert ends([copy("a"), moving(2, "b")]) == [1, 3]


def test_a_copy_leaves_what_it_cannot_use():
    """HBM is twice as fast: on half of its blocks the copy takes a quarter of it, 4/5 of the speed for both.

    The copy ends at 2 / 0.8, by when the kernel has done 2 of its 3; what is left of it is alone.
    """
    assert ends([moving(3, "a", hbm=4e12), copy("b")], device(4e12)) == [3.5, 2.5]


def test_a_kernel_bound_by_its_arithmetic_is_not_disturbed():
    """It moves a quarter of what HBM does in its time; the copy has half of its blocks and takes half."""
    profile = device()
    rate = 2 * 32 * profile.value("sm.schedulers") * profile.value("sm.ffma_issue_rate") * profile.clock_hz * 132
    assert ends([moving(1, "a", flop=4 * COPY_S * rate), copy("b")], rel=0.02) == [4, 2]


def test_two_copies_take_as_long_as_two():
    """Also those that find room beside each other."""
    assert ends([copy("a"), copy("b")]) == [1, 2]
    assert ends([copy("a", MIB), copy("b", MIB)]) == [2 * MIB / SIZE] * 2


def test_a_spelled_out_kernel_takes_its_time_of_hbm():
    """A kernel that keeps HBM busy, on half of each SM: together they take nearly as long as both alone."""
    text = """question: q
device: h200_sxm
host:
  streams: {a: {}, b: {}}
  kernels: {k: {grid: 132, tiles_per_cta: 60, roles: {all: {warps: 32, per_tile: [{load: 128 KiB}, wait_loads]}}}}
  threads: {main: {prologue: [CALLS]}}
"""
    kernel, move = "{launch: {kernel: k, stream: a}}", "{d2d: {bytes: 128 MiB, stream: b}}"
    one, other, both = (
        predict(loads(text.replace("CALLS", calls)), trace=False).total_s
        for calls in (kernel, move, f"{kernel}, {move}")
    )
    assert max(one, other) + 0.7 * min(one, other) < both < one + other


H200 = load_profile("h200_sxm")
GATE_S = 1e-3


def on_h200(first, second=None):
    """Microseconds from a common start to the end of each; the second one comes on another stream, right behind."""
    gate, tick = (ops.Work(ops.FixedCost(seconds)) for seconds in (GATE_S, 0.0))
    calls = [ops.Launch(gate, "high"), ops.EventRecord("go", "high"), ops.StreamWaitEvent("go", "a"), first("a")]
    if second is not None:
        calls += [ops.Launch(tick, "high"), ops.EventRecord("then", "high"), ops.StreamWaitEvent("then", "b")]
        calls += [second("b")]
    program = ops.HostProgram("test", (ops.HostThread("t", tuple(calls)),), STREAMS)
    work = sorted((i for i in simulate_host(program, H200) if i.kind in ("kernel", "copy")), key=lambda i: i.lane)
    start_s = min(i.end_s for i in work if i.lane == "stream[2]")
    return [1e6 * (i.end_s - start_s) for i in work if i.lane != "stream[2]"]


def of(mib):
    return lambda stream: ops.MemcpyAsync("d2d", mib * MIB, stream)


def waiting(us, grid, threads):
    return lambda stream: ops.Launch(ops.Work(ops.FixedCost(us * 1e-6), grid, threads), stream)


def saxpy(grid, threads):
    """Of 256 MiB each: x and y are read, y is written."""
    return lambda stream: ops.Launch(ops.Work(ops.RooflineCost(2.0 * 64 * MIB, 768 * MIB), grid, threads), stream)


@pytest.mark.parametrize(("mib", "measured"), [(1, 3.3), (4, 4.3), (64, 34.3), (128, 65.6), (256, 127.4)])
def test_copies_alone_as_measured(mib, measured):
    """16 MiB stay in L2: 8 us, for which 10 are predicted."""
    assert on_h200(of(mib)) == [pytest.approx(measured, rel=0.02, abs=0.5)]


@pytest.mark.parametrize(
    ("copied", "kernel", "measured"),
    [
        (256, (50, 1, 32), (128, 177)),
        (256, (50, 132, 1024), (128, 177)),
        (256, (50, 264, 1024), (128, 177)),
        (4, (10, 1, 32), (4.4, 14.0)),
        (4, (10, 132, 1024), (4.4, 14.1)),
        (32, (10, 1, 32), (19.3, 28.1)),
    ],
)
def test_kernels_behind_copies_as_measured(copied, kernel, measured):
    """The 8 us between two looks may come in between here, which the events of the measurement had behind them."""
    assert on_h200(of(copied), waiting(*kernel)) == pytest.approx(measured, rel=0.03, abs=4)


@pytest.mark.parametrize(
    ("grid", "threads", "measured"),
    [
        (132, 32, 129), (132, 256, 131), (132, 512, 136), (132, 768, 141), (132, 1024, 148), (264, 512, 147),
        (66, 1024, 137), (264, 640, 171), (264, 960, 528), (264, 1024, 527),
    ],
)  # fmt: skip
def test_copies_beside_kernels_that_wait_as_measured(grid, threads, measured):
    """256 MiB behind a kernel of 400 us."""
    assert on_h200(waiting(400, grid, threads), of(256))[1] == pytest.approx(measured, rel=0.16)


@pytest.mark.parametrize(("threads", "measured"), [(768, 226), (896, 391)])
def test_copies_on_few_blocks_are_predicted_too_slow(threads, measured):
    """A quarter and an eighth of their blocks give 0.56 and 0.33 of their rate; here it falls with their number."""
    assert measured < on_h200(waiting(400, 264, threads), of(256))[1] < 1.4 * measured


@pytest.mark.parametrize(
    ("grid", "threads", "measured"), [(1056, 256, (223, 255)), (528, 256, (266, 197)), (132, 1024, (264, 193))]
)
def test_copies_beside_saxpy_as_measured(grid, threads, measured):
    """128 MiB. The last one to end; a kernel that says its bytes moves them 10 % faster than saxpy does."""
    assert max(on_h200(saxpy(grid, threads), of(128))) == pytest.approx(max(measured), rel=0.10)
    assert max(on_h200(of(128), saxpy(grid, threads))) == pytest.approx(265, rel=0.10)


@pytest.mark.parametrize(("kernel", "measured"), [(waiting(100, 264, 1024), 989), (saxpy(1056, 256), 1521)])
def test_six_kernels_and_six_copies_as_measured(kernel, measured):
    """Of 128 MiB: they take turns."""
    calls = [op for _ in range(6) for op in (kernel("a"), of(128)("b"))]
    program = ops.HostProgram("test", (ops.HostThread("t", tuple(calls)),), STREAMS)
    assert 1e6 * simulate_host(program, H200).total_s == pytest.approx(measured, rel=0.05)
