"""What is issued behind copies by threads, against closed forms and the `behind_copies` bench."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.engine import Simulation
from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.alignment import turns
from gpusim.hardware.memory.load_store import LoadStoreQueue
from gpusim.program import CommitGroup, Compute, CpAsync, Mix, Ring, Role, WaitGroup
from tests.bench_rows import rows
from tests.tile_programs import kernel, textbook

RING, WARPS = "input", 8
EACH = {0: 1, 16: 3, 32: 2, 48: 4, 64: 2, 112: 3}
"""Turns of a line of a copy by how far off a line it begins."""


def stamps(device, size, align=0):
    """SM cycles from the beginning until the copies have been issued, and until a word of shared memory is there."""

    def body(tiles):
        yield CpAsync(RING, size, tile=0, align=align, l2_hit=1.0)
        yield Compute(Mix(lds=1, lds_bytes=4), tile=0)
        yield CommitGroup(tile=0)
        yield WaitGroup(0, tile=0)

    program = kernel(Role("worker", WARPS, body), grid=1, rings=(Ring(RING, 1, size),))
    timeline = simulate_kernel(program, device, exact=True)
    issue = next(i for i in timeline if i.kind == "issue" and i.lane.endswith("worker"))
    compute = next(i for i in timeline if i.kind == "compute" and i.lane.endswith("worker"))
    return [(end - issue.start_s) * device.clock_hz for end in (issue.end_s, compute.end_s)]


def test_shared_loads_wait_until_all_copies_are_taken_in():
    """64 instructions of 512 bytes at 32 bytes a cycle take 1024 cycles; of these 10 find room in the queue."""
    free, queue = (textbook(sm__count=1, lsu__queue=room) for room in (0, 10))
    assert stamps(free, 32 << 10) == pytest.approx([8.0 * 2, 8.0 * 2 + 2.0])
    assert stamps(queue, 32 << 10) == pytest.approx([1024.0 - 160.0, 1024.0 + 2.0])


@pytest.mark.parametrize("size", [16 << 10, 32 << 10, 48 << 10, 64 << 10])
@pytest.mark.parametrize("align", [128, 64])
def test_they_wait_as_long_as_on_the_h200(size, align):
    """Tiles on lines, and those that start in the middle of one half of the time: within 12 % or 25 cycles."""
    found = [
        row["shared_cycles"]
        for row in rows("behind_copies", row=0)
        if (row["kind"], row["sms"], row["bytes"]) == ("cp_async", 1, size) and row["offset"] in range(0, 128, align)
    ]
    _, shared = stamps(load_profile("h200_sxm", {"sm.count": 1}), size, align)
    assert shared == pytest.approx(np.mean(found), rel=0.12, abs=25)


@pytest.mark.parametrize("device", ["h200_sxm", "h100_sxm"])
def test_the_last_copies_are_not_waited_for(device):
    """A word behind copies comes as many copies before all are in, however these lie: 11 cycles off, 40 at worst."""
    profile, off = load_profile(device), []
    passed, depth = profile.value("lsu.queue_passed"), profile.value("lsu.queue_depth")
    behind_few = min(
        row["shared_cycles"] - row["issued_cycles"]
        for row in rows("behind_copies", device, kind="cp_async", bytes=8192)
    )
    for row in rows("behind_copies", device, kind="cp_async"):
        if row["bytes"] >= 16 << 10:
            each = 512 * turns(row["row"], row["pitch"]) if row["row"] else 4.0 * EACH[row["offset"]]
            expected = row["bytes"] / 512 * each - passed * each + depth + behind_few
            off.append(row["shared_cycles"] - expected)
    assert len(off) > 60
    assert np.max(np.abs(off)) < 40.0
    assert np.mean(np.abs(off)) < 12.0


def test_who_stands_behind_copies_gets_its_turn_while_the_last_are_on_their_way():
    """Of four of 5 s each the last two are out of the way, and it takes 3 s to get there; nobody waits less than 0."""
    sim = Simulation()
    found = LoadStoreQueue(sim, 4.0, 10.0, passed=2.0, depth_s=3.0)
    found.take(4, 5.0, age=0)
    assert found.wait_s() == pytest.approx(20.0 - 10.0 + 3.0)
    assert sum(found.own_wait_s(0)) == pytest.approx(found.wait_s())
    sim.run(sim.timeout(15.0))
    assert found.wait_s() == 0.0


def queue(room: float = 4.0, felt_after_s: float = 10.0) -> tuple[Simulation, LoadStoreQueue]:
    """One that tells of its changes."""
    sim = Simulation()
    found = LoadStoreQueue(sim, room, felt_after_s)
    found.when_changed = lambda: None
    return sim, found


def test_warps_get_their_turns_one_after_the_other():
    """Half of the time for what finds room lies between the first and the last; others' later copies do not matter."""
    _, found = queue()
    found.take(4, 5.0, age=0)
    found.take(4, 5.0, age=1)
    assert found.own_wait_s(0) == pytest.approx((10.0, 10.0))
    assert found.own_wait_s(1) == pytest.approx((30.0, 10.0))
    assert found.wait_s() == pytest.approx(40.0)
    assert found.own_wait_s(2) == (0.0, 0.0)


def test_products_get_on_for_a_while_beside_copies_of_others():
    """Ten of the forty seconds that another CTA's copies take; one's own do not count, nor what is taken in."""
    sim, found = queue()
    found.take(8, 5.0, age=0)
    assert found.products_rate(1) == pytest.approx(0.25)
    assert found.products_rate(0) == 1.0
    sim.run(sim.timeout(41.0))
    assert found.products_rate(1) == 1.0
    found.take(1, 5.0, age=0)
    assert found.products_rate(1) == 1.0


def test_they_are_stopped_as_on_the_h200():
    """By bursts of 32 and 64 copies: within 200 cycles, and on average within 60."""
    felt, off = load_profile("h200_sxm").value("lsu.queue_felt_after"), []
    for row in rows("beside_copies"):
        if row["copies"] >= 32:
            taken = row["copies"] * 512 * turns(row["row"], row["pitch"])
            off.append(max(taken - felt, 0.0) - row["stopped_cycles"])
    assert len(off) == 48
    assert np.max(np.abs(off)) < 200.0
    assert np.mean(np.abs(off)) < 60.0
