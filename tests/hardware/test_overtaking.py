"""Copies, and others right behind them, against closed forms (textbook device) and the `overtaking` bench."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest

from gpusim.engine import Simulation
from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.alignment import Start
from gpusim.hardware.memory.demand import Demand
from gpusim.hardware.memory.l2_and_hbm import Memory
from gpusim.hardware.memory.load_request import LoadRequest, Origin
from gpusim.hardware.memory.sm_memory import SmMemory
from gpusim.program import Compute, Mix, Ring, Role, TmaLoad, WaitFull
from tests.bench_rows import rows
from tests.tile_programs import NS, RING, kernel, textbook

SIZE = 4096
COPY = SIZE / 32
"""Cycles a copy occupies its unit."""
PERIOD_S = 12e-6
"""From one turn of the bench to the next."""


def pair(device, size, delay, l2_hit):
    """Cycles from asking to arrival of one bulk copy in each of two CTAs, the second ``delay`` cycles later."""

    def body(tiles):
        # A CTA of two tiles is the one that asks later.
        if tiles == 2:
            yield Compute(Mix(ffma=delay, ilp=4.0))
        yield TmaLoad(RING, size, l2_hit=l2_hit, tile=0)
        yield WaitFull(RING, tile=0)

    program = kernel(Role("worker", 1, body), tiles=(1, 2), grid=2, rings=(Ring(RING, 1, size),))
    timeline = simulate_kernel(program, device, exact=True)
    copies = np.flatnonzero(timeline.mask(kinds=("copy",)))
    first, second = sorted(copies, key=lambda i: timeline.start_s[i])
    return [(timeline.end_s[i] - timeline.start_s[i]) * device.clock_hz for i in (first, second)], (
        timeline.start_s[second] - timeline.start_s[first]
    ) / NS


@pytest.mark.parametrize("delay", [0, 32, 64])
def test_side_by_side_they_arrive_as_far_apart_as_they_were_asked_for(delay):
    """What L2 holds: half the rate each while both are on their way, the first needs 2 L - delay, and so the second."""
    (first, second), apart = pair(textbook(sm__count=1), SIZE, delay, l2_hit=1.0)
    assert apart == pytest.approx(delay, abs=1e-6)
    assert (first, second) == pytest.approx((2 * COPY - delay, 2 * COPY - delay))


def test_from_dram_the_first_is_held_up_as_far_as_others_get_ahead():
    """Not at all, or by a quarter of a copy."""
    (first, second), _ = pair(textbook(sm__count=1), SIZE, 32, l2_hit=0.0)
    assert (first, second) == pytest.approx((COPY, 2 * COPY - 32))
    device = textbook(sm__count=1)
    quarter_ns = SIZE / 4 / device.value("hbm.read_bandwidth") / NS
    (first, second), _ = pair(textbook(sm__count=1, hbm__overtaking=f"{quarter_ns} ns"), SIZE, 32, l2_hit=0.0)
    assert (first, second) == pytest.approx((1.25 * COPY, 2 * COPY - 32))


def waits(device, row):
    """Cycles from asking to arrival of each copy of a turn of the bench, by CTA and copy."""
    profile = load_profile(device)
    clock, size = profile.clock_hz, float(row["bytes"])
    sim = Simulation()
    memory = Memory(sim, profile, 132, Demand(round_bytes=132 * size, rounds=1.0))
    # All SMs are in step: none can have what another leaves.
    memory.hbm.reserve = memory.l2.reserve = 0.0
    sm = SmMemory(memory, "sm[0]", 132, 64 << 10, None)
    found = {}

    def ask(number, cta, delay):
        # After some turns HBM is as little loaded as it is on average.
        for turn in range(4):
            asks = turn * PERIOD_S + delay / clock
            yield sim.timeout(asks - sim.now)
            yield sm.load(LoadRequest(row["unit"], size, 0.0, Start(128), Origin(f"sm[0].cta[{cta}]", 0, 0, 1.0, -1)))
            found[number] = (sim.now - asks) * clock

    for number in range(row["ctas_per_sm"] * row["copies"]):
        # As it was, not as it was meant: a warp asks for all of its first copy before its second.
        delay = row["asked_cycles"][number] - row["asked_cycles"][0]
        sim.process(ask(number, number // row["copies"], delay))
    sim.run()
    return [found[number] for number in sorted(found)]


@pytest.mark.parametrize("device", ["h200_sxm", "h100_sxm"])
@pytest.mark.parametrize("unit", ["tma", "cp_async", "ldg"])
def test_each_copy_waits_as_long_as_on_the_device(device, unit):
    """One copy of each SM, and two or three of 4 to 32 KiB that all ask for 0 to 1200 cycles after each other.

    Further off: the first of three CTAs that ask within 200 cycles (20 %), of which both others get ahead, and those of
    CTAs that ask at the very same time, whose requests come in turn (40 %).
    """
    off = {True: [], False: []}
    for row in rows("overtaking", device, unit=unit):
        measured = np.subtract(row["arrived_cycles"], row["asked_cycles"])
        for expected, found in zip(waits(device, row), measured, strict=True):
            at_once = row["delay_cycles"] == 0 and row["ctas_per_sm"] > 1
            off[at_once].append(expected / found - 1.0)
    assert fmean(map(abs, off[False])) < 0.05
    assert max(map(abs, off[False])) < 0.22
    assert fmean(map(abs, off[True])) < 0.12
    assert max(map(abs, off[True])) < 0.42
