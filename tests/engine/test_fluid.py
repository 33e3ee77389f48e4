"""Fluid sharing against the algebra of max-min fairness."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.engine import Capacity, FluidSystem, Simulation


def finish_times(limit, flows, reserve=0.0):
    """End times of flows (amount, weight, bound, start) on one capacity."""
    sim = Simulation()
    fluid = FluidSystem(sim)
    capacity = Capacity("c", limit, reserve=reserve)
    ends = {}

    def one(index, amount, weight, bound, start):
        yield sim.timeout(start)
        yield fluid.start(amount, [(capacity, weight)], bound=bound)
        ends[index] = sim.now

    for index, flow in enumerate(flows):
        sim.process(one(index, *flow))
    sim.run()
    return [ends[i] for i in range(len(flows))]


INF = float("inf")


def test_one_flow_takes_amount_over_capacity():
    """T = A / C = 10 / 2 = 5."""
    assert finish_times(2.0, [(10.0, 1.0, INF, 0.0)]) == pytest.approx([5.0])


def test_second_flow_on_full_capacity_halves_both_rates():
    """Both need 4 at rate 1/2 each: 2 × 4 / 1 = 8."""
    assert finish_times(1.0, [(4.0, 1.0, INF, 0.0), (4.0, 1.0, INF, 0.0)]) == pytest.approx([8.0, 8.0])


def test_bounded_flow_leaves_the_rest_to_the_other():
    """C = 3, flow 0 bounded at 1: rates 1 and 2, so 4/1 = 4 and 4/2 = 2."""
    assert finish_times(3.0, [(4.0, 1.0, 1.0, 0.0), (4.0, 1.0, INF, 0.0)]) == pytest.approx([4.0, 2.0])


def test_weight_is_what_a_unit_takes_of_the_capacity():
    """Equal rates x with 1x + 3x = 4, so x = 1 for both."""
    assert finish_times(4.0, [(2.0, 1.0, INF, 0.0), (2.0, 3.0, INF, 0.0)]) == pytest.approx([2.0, 2.0])


def test_rates_rise_when_a_flow_ends():
    """Two flows of 1 and 3 on C = 1: the first ends at 2 (rate 1/2), the other has 2 left: 4."""
    assert finish_times(1.0, [(1.0, 1.0, INF, 0.0), (3.0, 1.0, INF, 0.0)]) == pytest.approx([2.0, 4.0])


def test_two_capacities_max_min_textbook_case():
    """Flow a on both links, b on link 1 (C = 1), c on link 2 (C = 2): a = b = 1/2, c = 3/2."""
    sim = Simulation()
    fluid = FluidSystem(sim)
    one, two = Capacity("1", 1.0), Capacity("2", 2.0)
    a = fluid.start(100.0, [(one, 1.0), (two, 1.0)])
    fluid.start(100.0, [(one, 1.0)])
    fluid.start(100.0, [(two, 1.0)])
    seen = []

    def look():
        yield sim.timeout(1.0)
        seen.extend(sorted(flow.rate for flow in {*one.flows, *two.flows}))

    sim.process(look())
    sim.run()
    assert a.processed
    assert seen == pytest.approx([0.5, 0.5, 1.5])


def test_multiplicity_counts_that_many_flows():
    """Three identical flows stand as one: rate 6 / 3 = 2, so 4 / 2 = 2."""
    sim = Simulation()
    fluid = FluidSystem(sim)
    capacity = Capacity("c", 6.0)
    fluid.start(4.0, [(capacity, 1.0)], multiplicity=3.0)
    assert sim.run() == pytest.approx(2.0)


def test_nonlinear_capacity_depends_on_the_active_flows():
    """Limit 10 for one flow and 8 for two: 2 flows of 4 run at 4 each, so T = 1."""
    ends = finish_times(lambda flows: 10.0 if len(flows) < 2 else 8.0, [(4.0, 1.0, INF, 0.0)] * 2)
    assert ends == pytest.approx([1.0, 1.0])


def test_saved_capacity_is_spent_before_the_limit_binds():
    """Idle for 5 s saves 5 units; then rate 3 until 3t = 5 + t (t = 2.5), then rate 1: 10 = 7.5 + 2.5."""
    ends = finish_times(1.0, [(10.0, 1.0, 3.0, 5.0), (1e-9, 1.0, INF, 0.0)], reserve=5.0)
    assert ends[0] == pytest.approx(5.0 + 2.5 + 2.5, rel=1e-6)


def test_flow_without_any_limit_is_refused():
    """A flow with neither capacity nor bound has no finite rate."""
    sim = Simulation()
    with pytest.raises(ValueError, match="no rate"):
        FluidSystem(sim).start(1.0, [])


@given(
    st.lists(
        st.tuples(
            st.floats(0.1, 10), st.floats(0.1, 3), st.floats(0.1, 5), st.floats(0, 3)
        ),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_capacity_is_never_exceeded_and_work_is_conserved(flows):
    """The last end is no earlier than all work at full rate, and no flow beats its own bound."""
    ends = finish_times(1.0, flows)
    for (amount, _, bound, start), end in zip(flows, ends, strict=True):
        assert end >= start + amount / bound - 1e-6
    first = min(start for *_, start in flows)
    work = sum(amount * weight for amount, weight, *_ in flows)
    assert max(ends) >= first + work - 1e-6


@given(
    st.lists(st.tuples(st.floats(0.1, 3), st.floats(0.1, 5)), min_size=2, max_size=6),
    st.booleans(),
)
def test_rates_are_one_level_or_the_own_bound(flows, second_is_full):
    """Max-min on one capacity: all rates are min(bound, level), and the capacity is full; so also beside a second."""
    sim = Simulation()
    fluid = FluidSystem(sim)
    capacity, other = Capacity("c", 1.0), Capacity("other", 0.5 if second_is_full else 1e6)
    for weight, bound in flows:
        fluid.start(100.0, [(capacity, weight)], bound=bound)
    fluid.start(100.0, [(other, 1.0)], bound=1.0)
    started, (beside,) = list(capacity.flows), other.flows
    sim.run(sim.timeout(1e-3))
    assert beside.rate == pytest.approx(0.5 if second_is_full else 1.0)
    used = sum(weight * flow.rate for (weight, _), flow in zip(flows, started, strict=True))
    assert used == pytest.approx(min(1.0, sum(weight * bound for weight, bound in flows)))
    level = max(flow.rate for flow in started)
    assert [flow.rate for flow in started] == pytest.approx([min(bound, level) for _, bound in flows])
