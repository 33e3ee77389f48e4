"""Kernel programs of several streams on the same SMs, on the textbook device."""

from __future__ import annotations

import pytest

from gpusim.host import simulate_host
from gpusim.program import Compute, Mix
from gpusim.program import host as ops
from tests.host.profiles import textbook
from tests.tile_programs import one_role

SMS = int(textbook().value("sm.count"))


def together(count, warps, grid=SMS):
    """How long ``count`` kernels take, each in a stream of its own, in times of one that is alone."""
    kernel = one_role(Compute(Mix(ffma=20_000)), warps=warps, grid=grid)

    def total(streams):
        launches = tuple(ops.Launch(kernel, f"s{i}") for i in range(streams))
        names = tuple(ops.Stream(f"s{i}", "non_blocking") for i in range(streams))
        host = ops.HostProgram("test", (ops.HostThread("t", launches),), names)
        return simulate_host(host, textbook()).total_s

    return total(count) / total(1)


@pytest.mark.parametrize("count", [1, 2])
def test_two_that_fill_the_schedulers_share_them(count):
    """Each of 32 warps and one CTA per SM: two find room, and take twice as long."""
    assert together(count, warps=32) == pytest.approx(count, rel=0.02)


def test_three_take_as_long_as_three():
    """Two at first; what is left of the third is alone."""
    assert together(3, warps=32) == pytest.approx(3, rel=0.02)


def test_two_that_leave_schedulers_idle_do_not_disturb_each_other():
    """One warp each: the second one's is on the next scheduler."""
    assert together(2, warps=1) == pytest.approx(1, rel=0.02)


def test_half_a_device_each():
    """As many CTAs as half of the SMs: each kernel has its own."""
    assert together(2, warps=64 // 2, grid=SMS // 2) == pytest.approx(1, rel=0.02)
