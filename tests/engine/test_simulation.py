"""What is called late is called after everything else of the instant, in turn."""

from __future__ import annotations

from gpusim.engine import Simulation


def test_late_calls_come_after_all_events_of_the_instant():
    sim = Simulation()
    order = []

    def late() -> None:
        order.append("late")
        # What a late call brings about in the same instant comes before the next one.
        sim.call_after(0.0, lambda _event: order.append("event of the first"))

    def first(_event) -> None:
        sim.call_late(late)
        sim.call_late(lambda: order.append("second late"))
        sim.call_after(0.0, lambda _event: order.append("event"))

    sim.call_after(1.0, first)
    sim.call_after(2.0, lambda _event: order.append("later"))
    assert sim.run() == 2.0
    assert order == ["event", "late", "event of the first", "second late", "later"]


def test_a_late_call_is_made_though_nothing_else_is_left():
    sim = Simulation()
    seen = []
    sim.call_late(lambda: seen.append(sim.now))
    sim.run()
    assert seen == [0.0]


def test_what_is_cancelled_is_not_called():
    sim = Simulation()
    seen = []
    cancelled = sim.call_after(1.0, lambda _call: seen.append("first"))
    sim.call_after(2.0, lambda _call: seen.append("second"))
    cancelled.cancel()
    assert sim.run() == 2.0
    assert seen == ["second"]
