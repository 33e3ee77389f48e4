"""Cost of each barrier operation against its closed form; barriers of the textbook device are free."""

from __future__ import annotations

import pytest

from gpusim.hardware import simulate_kernel
from gpusim.program import (
    Arrive,
    Barrier,
    CommitGroup,
    Compute,
    CpAsync,
    Mix,
    NamedBarrier,
    ProducerCommit,
    Release,
    Ring,
    Role,
    SetMaxNReg,
    SyncThreads,
    TmaLoad,
    Wait,
    WaitFull,
)
from tests.tile_programs import NS, RING, kernel, one_role, textbook, tma_ring, total_ns

SIZE = 4096
COSTS = {
    "mbarrier.poll": "11 cycles", "mbarrier.wake": "13 cycles", "mbarrier.per_warp": "2 cycles",
    "mbarrier.arrive_latency": "30 cycles", "mbarrier.arrive_issue": "5 cycles",
    "barrier.base": "17 cycles", "barrier.arrive_per_warp": "1 cycles", "barrier.release_per_warp": "2 cycles",
    "barrier.named_extra": "7 cycles",
}  # fmt: skip


def role(name, *ops, warps=1):
    """A role that executes ``ops`` once."""
    return Role(name, warps, lambda _tiles: iter(ops))


def cycles(*roles, **fields):
    """Cycles of these roles on the textbook device whose barriers cost `COSTS`."""
    return total_ns(kernel(*roles, **fields), textbook(**COSTS))


def test_waiter_of_a_completed_phase_looks_once():
    """Look and be served, poll + per_warp × 1 = 11 + 2 for phase -1, which has always completed."""
    assert cycles(role("a", Wait("bar", -1)), barriers=(Barrier("bar", 1),)) == pytest.approx(13)


def test_arrival_takes_effect_late_and_wakes_the_waiter():
    """arrive_latency + wake + per_warp × 1 = 30 + 13 + 2; the arriver itself goes on after 5."""
    pair = role("a", Arrive("bar")), role("b", Wait("bar", 0))
    assert cycles(*pair, barriers=(Barrier("bar", 1),)) == pytest.approx(45)
    assert cycles(role("a", Arrive("bar")), barriers=(Barrier("bar", 2),)) == pytest.approx(5)


def test_phase_ends_with_the_last_arrival():
    """Arrivals after 10 and after 100 cycles of work: 100 + 30 + 13 + 2."""
    roles = (
        role("early", Compute(Mix(ffma=10)), Arrive("bar")),
        role("late", Compute(Mix(ffma=100)), Arrive("bar")),
        role("waiter", Wait("bar", 0)),
    )
    assert cycles(*roles, barriers=(Barrier("bar", 2),)) == pytest.approx(145)


def test_full_barrier_completes_with_the_last_byte():
    """A bulk copy of 128 cycles, then wake + per_warp × consumers of the ring: 128 + 13 + 2 × 3."""
    consumer = role("consumer", WaitFull(RING, tile=0), warps=3)
    producer = role("producer", TmaLoad(RING, SIZE, tile=0))
    ring = Ring(RING, 1, SIZE, empty_arrivals=3)
    assert cycles(producer, consumer, rings=(ring,)) == pytest.approx(128 + 13 + 6)


def test_copies_that_arrive_themselves_hold_nobody_up():
    """The producing warp goes on after 2 instructions and 5 cycles; the stage is full 128 later, and 30 + 13 + 2 × 4.

    In no group, and in one of them.
    """
    ring = Ring(RING, 1, SIZE, full_arrivals=4, empty_arrivals=1)
    copy, arrive = CpAsync(RING, SIZE, tile=0), ProducerCommit(RING, asynchronous=True, tile=0)
    for ops in ((copy, arrive), (copy, CommitGroup(), arrive)):
        alone = kernel(role("producer", *ops, warps=4), rings=(ring,))
        timeline = simulate_kernel(alone, textbook(**COSTS))
        barrier = next(timeline[i] for i in range(len(timeline)) if timeline[i].kind == "barrier")
        assert barrier.end_s / NS == pytest.approx(7, abs=1)
        both = cycles(role("producer", *ops, warps=4), role("consumer", WaitFull(RING, tile=0)), rings=(ring,))
        assert both == pytest.approx(2 + 128 + 30 + 13 + 2 * 4, abs=1)


def test_producer_that_wrote_itself_commits():
    """arrive_latency + wake + per_warp, as with any arrival."""
    roles = role("producer", ProducerCommit(RING, tile=0)), role("consumer", WaitFull(RING, tile=0))
    assert cycles(*roles, rings=(Ring(RING, 1, SIZE),)) == pytest.approx(45)


def test_release_costs_its_issue():
    """The consumer goes on after arrive_issue."""
    assert cycles(role("consumer", Release(RING, tile=0)), rings=(Ring(RING, 1, SIZE),)) == pytest.approx(5)


def test_unit_for_mbarriers_takes_one_operation_after_another():
    """32 warps look at an open barrier, 4 cycles each: 128, more than the 11 of a single look; two CTAs take 256."""
    device = textbook(**COSTS | {"mbarrier.per_warp": "0 cycles", "mbarrier.wait_interval": "4 cycles"})
    look = role("a", Wait("bar", -1), warps=32)
    one, two = (kernel(look, grid=grid, barriers=(Barrier("bar", 1),)) for grid in (1, 264))
    assert total_ns(one, device) == pytest.approx(128)
    assert total_ns(two, device) == pytest.approx(256)


def test_turn_of_a_single_stage_is_copy_hand_over_compute_hand_back():
    """L + (wake + warps × per_warp) + C + arrive_latency + (wake + warps × per_warp); issue of the arrive is hidden.

    With one consumer warp: 128 + 15 + 100 + 30 + 15 = 288 per tile.
    """
    device = textbook(**COSTS)
    few, many = (total_ns(tma_ring(1, warps=1, ffma=100, tiles=tiles), device) for tiles in (10, 20))
    assert (many - few) / 10 == pytest.approx(288)


@pytest.mark.parametrize(("warps", "expected"), [(1, 20), (4, 29), (32, 113)])
def test_syncthreads_takes_one_warp_after_another(warps, expected):
    """A fixed cost, one arrival and one release after another, 17 + (1 + 2) × warps."""
    assert cycles(role("a", SyncThreads(), warps=warps)) == pytest.approx(expected)


def test_syncthreads_waits_for_every_role():
    """The slow role arrives at 100; both leave 1 + 17 + 2 × 2 later."""
    fast, slow = role("fast", SyncThreads()), role("slow", Compute(Mix(ffma=100)), SyncThreads())
    assert cycles(fast, slow) == pytest.approx(122)


def test_warps_that_came_long_before_still_cost_their_release():
    """31 that wait for one: 100 + 1 + 17 + 2 × 32; their own arrivals are hidden."""
    fast, slow = role("fast", SyncThreads(), warps=31), role("slow", Compute(Mix(ffma=100)), SyncThreads())
    assert cycles(fast, slow) == pytest.approx(182)


def test_named_barrier_lets_other_warps_pass():
    """Two warps of role a meet: 17 + 7 + 2 × 3; role b never comes and is not missed."""
    assert cycles(role("a", NamedBarrier(1, 2), warps=2), role("b", Compute(Mix(ffma=1)))) == pytest.approx(30)


def test_named_barriers_of_different_numbers_are_different():
    """Role a passes barrier 1 alone and barrier 2 with role b, who comes at 100: 100 + 1 + 17 + 7 + 2 × 2."""
    a = role("a", NamedBarrier(1, 1), NamedBarrier(2, 2))
    b = role("b", Compute(Mix(ffma=100)), NamedBarrier(2, 2))
    assert cycles(a, b) == pytest.approx(129)


def test_moving_registers_costs_what_the_profile_says():
    """One `setmaxnreg`."""
    assert total_ns(one_role(SetMaxNReg(32)), textbook(sm__setmaxnreg="40 cycles")) == pytest.approx(40)
