"""What every technique of streams, copies and the host promises, over its whole measuring design."""

import dataclasses
import re
from collections import Counter

import pytest

from gpusim.hardware.profile import load_profile
from gpusim.host import simulate_host
from gpusim.program import host as ops
from gpusim.scenario import techniques
from realkernels._harness.host_design import host_designs

DESIGNS = host_designs()
NAMES = list(DESIGNS)
DEVICES = ("textbook", "h200_sxm")


def designs(name):
    return [technique(name).params(), *DESIGNS[name].points()[::7]]


def technique(name):
    return techniques()[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_configuration_of_the_design_makes_a_program(name):
    for params in DESIGNS[name].points():
        program = technique(name).build(params)
        assert isinstance(program, ops.HostProgram)
        used = {op.stream for thread in program.threads for op in thread.ops if hasattr(op, "stream")}
        assert used <= {stream.name for stream in program.streams}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_bytes_that_are_asked_for_are_moved(name, device):
    """Every copy appears on its engine, once, with its bytes."""
    profile = load_profile(device)
    for params in designs(name):
        program = technique(name).build(params)
        wanted = Counter()
        for op in _run(program):
            if isinstance(op, ops.MemcpyAsync | ops.Memcpy):
                wanted[op.direction] += op.bytes
        timeline = simulate_host(program, profile)
        moved = Counter()
        for interval in timeline:
            if engine := re.search(r"(?:^|\.)copy_engine\[(\w+)\]$", interval.lane):
                moved[engine[1]] += interval.bytes
        assert +moved == +wanted


def _run(program):
    """The ops a program runs; those of a graph once per launch."""
    for thread in program.threads:
        for op in thread.ops:
            if isinstance(op, ops.GraphLaunch):
                yield from program.graph(op.graph).ops
            else:
                yield op


@pytest.mark.parametrize("name", NAMES)
def test_lanes_are_sequential_and_inside_the_total(name):
    """But for kernels that may begin while the one ahead runs: these begin and end in order."""
    program = technique(name).build(technique(name).params())
    timeline = simulate_host(program, load_profile("h200_sxm"))
    early = any(isinstance(op, ops.Launch) and op.programmatic for op in _run(program))
    assert timeline.total_s > 0
    last = {}
    for interval in sorted(timeline, key=lambda i: (i.lane, i.start_s, i.end_s)):
        before = last.get(interval.lane)
        if before and not (early and before.kind == interval.kind == "kernel"):
            assert interval.start_s >= before.end_s - 1e-12
        assert not before or interval.end_s >= before.end_s - 1e-12
        assert interval.end_s <= timeline.total_s + 1e-12
        last[interval.lane] = interval


@pytest.mark.parametrize("name", NAMES)
def test_prediction_is_repeatable_and_does_not_need_its_trace(name):
    """Same input, same output, with and without intervals."""
    program, profile = technique(name).build(technique(name).params()), load_profile("h200_sxm")
    first, second = simulate_host(program, profile), simulate_host(program, profile)
    assert list(first) == list(second)
    assert simulate_host(program, profile, trace=False).total_s == first.total_s


@pytest.mark.parametrize("name", ["stream_pipeline", "copy_engines", "pageable_copies", "two_level"])
def test_a_faster_link_is_never_slower(name):
    program = technique(name).build(technique(name).params())
    base = load_profile("textbook")
    faster = base.overridden(
        {f"copy.{d}_{kind}": "64 GB/s" for d in ("h2d", "d2h") for kind in ("bandwidth", "duplex_bandwidth")}
    )
    assert simulate_host(program, faster).total_s <= simulate_host(program, base).total_s


def test_copy_engines_of_one_two_and_three():
    """Both directions, a copy on the device and a kernel: in turn, three ways, four ways."""
    params = dataclasses.replace(technique("copy_engines").params(), h2d_bytes=64 << 20, d2h_bytes=64 << 20,
                                 d2d_bytes=2 << 30, kernel_s=2e-3, copies=1)  # fmt: skip
    program = technique("copy_engines").build(params)
    copy_s, device_s, kernel_s = (64 << 20) / 32e9, (2 << 30) / 1e12, 2e-3
    total = {}
    for count in (1, 2, 3):
        profile = load_profile("textbook", {"copy.engines": count})
        total[count] = simulate_host(program, profile).total_s
    assert total[1] == pytest.approx(2 * copy_s + device_s)
    assert total[2] == pytest.approx(copy_s + device_s)
    assert total[3] == pytest.approx(max(copy_s, device_s, kernel_s), rel=1e-3)


def test_two_level_zooms_into_the_warps_of_its_kernels():
    """Below the stream's lane, within the kernel's interval; device-level metrics stay as they are."""
    from gpusim.timeline.metrics import hidden_fraction

    made = technique("two_level")
    program, profile = made.build(dataclasses.replace(made.params(), batches=2)), load_profile("h200_sxm")
    plain, zoomed = simulate_host(program, profile), simulate_host(program, profile, zoom=True)
    inside = [i for i in zoomed if ".kernel[" in i.lane]
    kernels = {(i.lane, i.tile): i for i in zoomed if i.kind == "kernel"}
    assert any(".consumer" in i.lane for i in inside)
    for interval in inside:
        lane, _, rest = interval.lane.partition(".kernel[")
        kernel = kernels[lane, int(rest[: rest.index("]")])]
        assert interval.start_s >= kernel.start_s - 1e-12
        assert interval.end_s <= kernel.end_s + 5e-6
    assert hidden_fraction(zoomed) == hidden_fraction(plain)
    assert zoomed.total_s == plain.total_s
