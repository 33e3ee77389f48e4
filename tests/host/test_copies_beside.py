"""Copies from and to the host beside kernels: closed forms on the textbook device, and what was measured on an H200."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile
from gpusim.host import simulate_host
from gpusim.program import host as ops
from tests.bench_rows import rows
from tests.host.profiles import textbook

BYTES, COPIES = 16384, 8
HBM = 2e12
THREADS, GRID = 256, 264
STREAMS = (ops.Stream("copies", "non_blocking"), ops.Stream("kernels", "non_blocking"))
LONG_S = 1e-3


def copies_s(kernel, direction="h2d", profile=None):
    """What a copy takes of several in a row, beside ``kernel`` if there is one."""
    calls = [ops.Launch(kernel, "kernels")] if kernel else []
    calls += [ops.MemcpyAsync(direction, BYTES, "copies") for _ in range(COPIES)]
    program = ops.HostProgram("test", (ops.HostThread("t", tuple(calls)),), STREAMS)
    timeline = simulate_host(program, profile or device())
    # The first one begins in the same instant as the kernel.
    transfers = [one for one in timeline if one.kind == "transfer"][1:]
    return sum(one.end_s - one.start_s for one in transfers) / len(transfers)


def device(waits=2.0):
    return textbook(hbm__read_bandwidth=HBM, hbm__write_bandwidth=HBM, hbm__copy_waits=waits)


def moving(part=1.0):
    """A kernel that is bound by memory, or whose arithmetic leaves ``part`` of HBM's time to its bytes."""
    flop = 0.0 if part == 1.0 else LONG_S * ops_per_second()
    return ops.Work(ops.RooflineCost(flop, part * LONG_S * HBM), GRID, THREADS)


def ops_per_second():
    profile = device()
    lanes = 32 * profile.value("sm.schedulers") * profile.value("sm.ffma_issue_rate")
    return 2.0 * lanes * profile.clock_hz * profile.value("sm.count")


@pytest.mark.parametrize("direction", ["h2d", "d2h"])
def test_a_copy_waits_for_what_all_threads_have_asked_of_a_full_hbm(direction):
    """Two vectors of 16 bytes each, as often as the profile says."""
    longer = copies_s(moving(), direction) - copies_s(None, direction)
    assert longer == pytest.approx(2.0 * 32 * GRID * THREADS / HBM, rel=1e-6)


def test_a_copy_waits_for_nobody_else():
    """Not for kernels that only last, and not where HBM is not full."""
    alone = copies_s(None)
    spin = ops.Work(ops.FixedCost(LONG_S), GRID, THREADS)
    for kernel in (spin, moving(0.8)):
        assert copies_s(kernel) == pytest.approx(alone, rel=1e-6)


def test_copies_beside_kernels_lose_what_was_measured():
    """Half of that: the kernel's threads have four vectors under way, and of any kernel two are assumed."""
    profile = load_profile("h200_sxm")
    found = rows("copies_beside")
    alone = next(row for row in found if not row["ctas"])
    reading = [row for row in found if row["reads"] == 1 and row["writes"] == 0 and row["ctas"] in (132, 528)]
    assert len(reading) == 2
    measured, predicted = [], []
    for row in reading:
        kernel = ops.Work(ops.RooflineCost(0.0, LONG_S * row["bytes_per_s"]), row["ctas"], 512)
        for way in ("h2d", "d2h"):
            measured.append(row[f"{way}_s"] - alone[f"{way}_s"])
            predicted.append(copies_s(kernel, way, profile) - copies_s(None, way, profile))
    assert sum(predicted) / sum(measured) == pytest.approx(0.5, abs=0.1)
    assert max(predicted) > 2 * min(predicted)
