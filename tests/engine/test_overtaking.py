"""Requests that get ahead of earlier ones, against closed forms: rate 1, so that an amount is a time."""

from __future__ import annotations

from math import inf

import pytest

from gpusim.engine import Capacity, FluidSystem, OvertakingServer, Simulation


def ends(window, *requests):
    """When each of ``requests`` (time, amount, queue, options) is delivered."""
    sim = Simulation()
    behind = Capacity("behind", 1.0)
    server = OvertakingServer(sim, FluidSystem(sim), 4.0, window=window)
    found = [0.0] * len(requests)

    def ask(number, at_s, amount, queue, options):
        yield sim.timeout(at_s)
        yield server.request(amount, [(behind, 1.0)], queue=queue, **{"weight": 1.0} | options)
        found[number] = sim.now

    for number, (at_s, amount, queue, *options) in enumerate(requests):
        sim.process(ask(number, at_s, amount, queue, *options or ({},)))
    sim.run()
    return found


@pytest.mark.parametrize("queues", ["aa", "ab"])
def test_without_a_window_the_first_is_finished_first(queues):
    """10 and 10 units, the second asked for at 2: done at 10 and 20."""
    assert ends(0.0, (0.0, 10.0, queues[0]), (2.0, 10.0, queues[1])) == pytest.approx([10.0, 20.0])


@pytest.mark.parametrize("queues", ["aa", "ab"])
def test_a_later_one_gets_ahead_by_the_window(queues):
    """By 3: the first is done at 13. It would share until 18."""
    assert ends(3.0, (0.0, 10.0, queues[0]), (2.0, 10.0, queues[1])) == pytest.approx([13.0, 20.0])


def test_in_a_wide_window_they_share():
    """8 of the first are left when the second comes: each gets half for 16, and 2 of the second are left."""
    assert ends(inf, (0.0, 10.0, "a"), (2.0, 10.0, "b")) == pytest.approx([18.0, 20.0])


def test_all_later_ones_share_a_window():
    """The second has got ahead of the first by 3, so the third cannot; it gets ahead of the second by 3."""
    found = ends(3.0, (0.0, 10.0, "a"), (2.0, 10.0, "b"), (9.0, 10.0, "c"))
    assert found == pytest.approx([13.0, 23.0, 30.0])


def test_in_turn_none_of_the_queue_gets_ahead():
    """Two of one queue that are served in turn, or one of them; one of another queue shares."""
    turn = {"in_turn": True}
    for first, second in ((turn, turn), (turn, {}), ({}, turn)):
        assert ends(inf, (0.0, 10.0, "a", first), (2.0, 10.0, "a", second)) == pytest.approx([10.0, 20.0])
    assert ends(inf, (0.0, 10.0, "a", turn), (2.0, 10.0, "b", turn)) == pytest.approx([18.0, 20.0])


def test_what_has_no_weight_waits_for_its_own_queue_only():
    """Whatever the window."""
    light = {"weight": 0.0}
    for first, second in ((light, light), (light, {}), ({}, light)):
        assert ends(0.0, (0.0, 10.0, "a", first), (2.0, 10.0, "a", second)) == pytest.approx([10.0, 20.0])
        assert ends(0.0, (0.0, 10.0, "a", first), (2.0, 10.0, "b", second)) == pytest.approx([18.0, 20.0])


def test_it_is_told_when_it_was_asked_for_and_when_it_was_served():
    """And delivers after the latency, which is asked for at the end of service."""
    sim, told = Simulation(), []
    server = OvertakingServer(sim, FluidSystem(sim), 2.0)
    asked = server.request(4.0, [], queue="a", rate=1.0, latency_s=lambda: sim.now, served=lambda *s: told.append(s))
    sim.run(asked)
    assert told == [(0.0, pytest.approx(4.0))]
    assert sim.now == pytest.approx(8.0)
