"""Barriers, phases and deadlocks."""

from __future__ import annotations

import pytest

from gpusim.deadlock import Deadlock
from gpusim.engine import CountingBarrier, PhasedBarrier, Simulation


def test_counting_barrier_releases_all_with_the_last_arrival():
    """Arrivals at 1, 2 and 3 release everybody at 3."""
    sim = Simulation()
    barrier = CountingBarrier(sim, "b", 3)
    log = []

    def lane(delay):
        yield sim.timeout(delay)
        yield barrier.arrive()
        log.append((delay, sim.now))

    for delay in (1, 2, 3):
        sim.process(lane(delay))
    sim.run()
    assert log == [(1, 3), (2, 3), (3, 3)]


def test_phase_needs_arrivals_and_expected_units():
    """One arrival that expects 10 units completes the phase when the tenth is done."""
    sim = Simulation()
    barrier = PhasedBarrier(sim, "b", 1)
    barrier.arrive(expect=10.0)
    assert barrier.phase == 0
    barrier.complete(4.0)
    assert barrier.phase == 0
    barrier.complete(6.0)
    assert barrier.phase == 1


def test_phase_before_the_first_has_always_completed():
    """A producer that starts with flipped parity waits for phase -1 and goes on at once."""
    sim = Simulation()
    assert PhasedBarrier(sim, "b", 1).wait(-1).triggered


def test_waiters_of_a_later_phase_stay_blocked():
    """Completing phase 0 does not release who waits for phase 1."""
    sim = Simulation()
    barrier = PhasedBarrier(sim, "b", 1)
    later = barrier.wait(1)
    barrier.arrive()
    assert not later.triggered
    barrier.arrive()
    assert later.triggered


def test_blocked_lane_raises_deadlock_with_reason_and_who_could_help():
    """Nobody arrives: the error names lane, reason, barrier and the lane that should have."""
    sim = Simulation()
    barrier = PhasedBarrier(sim, "input[0] full barrier", 1, ["producer"])

    def consumer():
        yield from sim.wait(barrier.wait(0), "consumer", "stage_empty", barrier)

    sim.process(consumer())
    with pytest.raises(Deadlock) as caught:
        sim.run()
    (blocked,) = caught.value.blocked
    assert (blocked.lane, blocked.reason) == ("consumer", "stage_empty")
    assert blocked.satisfied_by == ("producer",)
    assert "input[0] full barrier" in str(caught.value)


def test_circle_of_waits_is_named():
    """The first waits for b, b for c, c for it again; d waits for the circle and is not on it."""
    sim = Simulation()
    barriers = {name: CountingBarrier(sim, f"done by {name}", 2, [name]) for name in "abc"}

    def lane(name, other):
        yield from sim.wait(barriers[other].arrive(), name, "barrier", barriers[other], 3)

    for name, other in ("db", "ab", "bc", "ca"):
        sim.process(lane(name, other))
    barriers["b"].parties = 3
    with pytest.raises(Deadlock) as caught:
        sim.run()
    assert caught.value.cycle == ("a", "b", "c", "a")
    assert "cycle: a -> b -> c -> a" in str(caught.value)
    assert "before it waits" in str(caught.value)
    assert {entry.progress for entry in caught.value.blocked} == {"2 of 3 arrivals", "1 of 2 arrivals"}


def test_no_circle_where_somebody_has_ended():
    """The remedy says who, and what was not enough."""
    sim = Simulation()
    barrier = PhasedBarrier(sim, "the barrier", 2, ["helper"])
    barrier.arrive(1, 16)
    sim.process(sim.wait(barrier.wait(0), "waiter", "barrier", barrier))
    with pytest.raises(Deadlock) as caught:
        sim.run()
    assert caught.value.cycle == ()
    assert caught.value.remedy == "helper ended before the barrier had enough: compare the counts"
    assert caught.value.blocked[0].progress == "phase 0 has 1 of 2 arrivals and waits for 16 more units"


def test_ties_go_in_the_order_of_their_events():
    """Who was scheduled first runs first, at every instant."""

    def log_of_run():
        sim = Simulation()
        log = []

        def lane(name):
            for _ in range(3):
                yield sim.timeout(1.0)
                log.append((name, sim.now))

        for name in "abc":
            sim.process(lane(name))
        sim.run()
        return log

    assert log_of_run() == [(name, at) for at in (1.0, 2.0, 3.0) for name in "abc"]


def test_several_phases_at_once():
    """Two arrivals beforehand end two phases when the bytes of the first have come; two of each generation likewise."""
    sim = Simulation()
    barrier = PhasedBarrier(sim, "full", 1)
    barrier.arrive(1, 10)
    barrier.arrive()
    assert barrier.phase == 0
    barrier.complete(10)
    assert barrier.phase == 2
    meeting = CountingBarrier(sim, "meeting", 2)
    assert meeting.arrive(5).triggered
    assert meeting.progress == "1 of 2 arrivals"


def test_a_phase_needs_an_arrival():
    """Without any, every phase there is would be over."""
    with pytest.raises(ValueError, match=r"full: a phase takes 0 arrivals; expected at least one"):
        PhasedBarrier(Simulation(), "full", 0)
    with pytest.raises(ValueError, match=r"all: a generation takes 0 arrivals; expected at least one"):
        CountingBarrier(Simulation(), "all", 0)


def test_who_leaves_is_not_waited_for():
    """The last of three parties ends the generation by leaving; the two others are enough from then on."""
    sim = Simulation()
    barrier = CountingBarrier(sim, "b", 3)
    log = []

    def lane():
        for _ in range(2):
            yield barrier.arrive()
            log.append(sim.now)

    for _ in range(2):
        sim.process(lane())
    sim.call_after(5, lambda _: log.append(barrier.leave(1)))
    sim.run()
    assert log == [True, 5, 5, 5, 5]


def test_leaving_ends_nothing_while_somebody_is_missing():
    """And nothing at all once nobody is left."""
    barrier = CountingBarrier(Simulation(), "b", 3)
    event = barrier.arrive()
    assert not barrier.leave(1)
    assert not event.triggered
    assert barrier.leave(1)
    assert not barrier.leave(1)
