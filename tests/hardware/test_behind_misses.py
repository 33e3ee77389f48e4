"""Hits in L2 behind what DRAM has been asked for: by closed forms and the bench `behind_misses`."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, KernelProgram, Load, Mix, Ring, Role, TmaLoad, WaitFull
from tests.bench_rows import rows

H200 = load_profile("h200_sxm")
COPY, SMS = 16384, 132


def load_cycles(copies: int, delay: float, sms: int = SMS) -> float:
    """How long a warp waits for a line that L2 has, ``delay`` cycles after bulk copies of each SM were asked for."""

    def body(_tiles):
        for tile in range(copies):
            yield TmaLoad("ring", COPY, tile=tile)
        yield Compute(Mix(setup=delay / H200.value("sm.setup_latency")))
        yield Load(128, l2_hit=1.0)
        for tile in range(copies):
            yield WaitFull("ring", tile=tile)

    ring = Ring("ring", max(copies, 1), COPY)
    kernel = KernelProgram("k", sms, max(copies, 1), (Role("all", 1, body),), rings=(ring,))
    (load,) = (one for one in simulate_kernel(kernel, H200) if one.kind == "load")
    return (load.end_s - load.start_s) * H200.clock_hz


def test_one_sm_does_not_fill_the_queue():
    assert load_cycles(12, 2000, sms=1) == pytest.approx(load_cycles(0, 2000, sms=1), abs=20)


def test_a_hit_comes_when_all_but_so_many_misses_have_come():
    """Whenever it was asked for: later by so much less."""
    queue = SMS * 8 * COPY - H200.value("l2.hits_ahead")
    there = queue / H200.value("hbm.read_bandwidth") * H200.clock_hz
    waits = [load_cycles(8, delay) - load_cycles(0, delay) for delay in (2000, 4000)]
    assert waits[0] - waits[1] == pytest.approx(2000, rel=0.02)
    assert waits[0] + 2000 == pytest.approx(there, rel=0.12)


def test_waits_are_those_measured():
    """64 to 192 KiB of each SM, asked for 2000 to 8000 cycles before; up to 7900 cycles."""
    idle = rows("behind_misses", sms=SMS, bytes=0)[0]["hit_cycles"]
    measured, predicted = [], []
    for row in rows("behind_misses", sms=SMS):
        if row["bytes"] >= 4 * COPY and row["delay"] >= 2000:
            measured.append(row["hit_cycles"] - idle)
            predicted.append(load_cycles(row["bytes"] // COPY, row["delay"]) - load_cycles(0, row["delay"]))
    assert len(measured) == 20
    off = np.array(predicted) - np.array(measured)
    assert np.corrcoef(measured, predicted)[0, 1] > 0.97
    assert np.abs(off).mean() < 500
