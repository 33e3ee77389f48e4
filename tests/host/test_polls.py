"""A thread that asks for an event in a loop instead of sleeping until it has happened."""

from __future__ import annotations

import pytest

from gpusim.host import simulate_host
from gpusim.program import host as ops
from tests.host.profiles import textbook
from tests.host.test_streams import program

US = 1e-6
LOOK_S, WAKE_S, KERNEL_S = 1 * US, 7 * US, 50 * US
PROFILE = textbook(host__cupy__sync=LOOK_S, host__cupy__sync_wake=WAKE_S)
KERNEL = ops.Launch(ops.Work(ops.FixedCost(KERNEL_S)), "a")


def goes_on_s(*calls: ops.HostOp) -> float:
    """When the thread begins its own work behind the calls."""
    timeline = simulate_host(program([*calls, ops.HostWork(100 * US)]), PROFILE)
    (work,) = (i for i in timeline if i.lane == "host[0]" and i.kind == "host")
    return work.start_s


@pytest.mark.parametrize("poll", [True, False])
def test_it_goes_on_at_once(poll):
    """Who sleeps has to wake up besides."""
    calls = KERNEL, ops.EventRecord("e", "a"), ops.EventSync("e", poll=poll)
    assert goes_on_s(*calls) == pytest.approx(KERNEL_S + (0.0 if poll else WAKE_S))


@pytest.mark.parametrize("poll", [True, False])
def test_it_looks_once_where_the_event_has_happened(poll):
    """Or has never been recorded; nobody sleeps then, whichever way he asks."""
    calls = KERNEL, ops.EventRecord("e", "a"), ops.HostWork(2 * KERNEL_S), ops.EventSync("e", poll=poll)
    timeline = simulate_host(program([*calls, ops.HostWork(US)]), PROFILE)
    second = [i for i in timeline if i.lane == "host[0]" and i.kind == "host"][1]
    assert second.start_s == pytest.approx(2 * KERNEL_S + LOOK_S)
    first_turn = ops.EventSync("e", poll=poll), ops.EventRecord("e", "a")
    assert goes_on_s(*first_turn) == pytest.approx(LOOK_S)


@pytest.mark.parametrize("poll", [True, False])
def test_pools_give_memory_back_at_a_synchronisation_only(poll):
    """A look is none: what was freed is still there for the next allocation."""
    size = 1 << 25
    take = ops.MallocAsync("b", size, "a"), ops.FreeAsync("b", "a"), ops.EventRecord("e", "a")
    timeline = simulate_host(
        program([*take, ops.HostWork(US), ops.EventSync("e", poll=poll), *take], pools=(ops.Pool("default"),)),
        textbook(pool__grow=10 * US),
    )
    grown = [i for i in timeline if i.lane == "host[0]" and i.kind == "alloc" and i.duration_s > 9 * US]
    assert len(grown) == (1 if poll else 2)
