"""Fluid sharing: flows that draw on capacities, with max-min fair rates.

Maximise the smallest rate, then the next smallest, and so on, subject to

    sum over flows i using capacity c of  multiplicity_i * weight_ic * rate_i  <=  capacity_c
    rate_i <= bound_i

by progressive filling (Bertsekas & Gallager, Data Networks, 6.5.2): raise all rates
together until a capacity is full or a bound is met, freeze the flows concerned, go on
with the rest. Rates are solved again once per instant in which a flow began or ended.

A capacity with a ``reserve`` may be overdrawn for a while: what it left unused is saved, up
to the reserve, and spent before the limit binds. It stands for many users out of step
of which only one is simulated: the others leave their share while this one needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import simpy

from gpusim.engine.simulation import Simulation

__all__ = ["Capacity", "Flow", "FluidSystem"]

_TOLERANCE = 1e-9
"""A flow whose remaining amount is below this fraction of the whole is finished."""


class Capacity:
    """Something shared: at most ``limit`` units per second, over all flows that use it.

    ``limit`` may be a function of the list of active flows (an efficiency that depends on
    their number or mix). ``reserve`` is in units; 0 means no saving.
    """

    __slots__ = ("changes", "credit", "flows", "limit", "limit_now", "name", "reserve", "used_rate", "used_total")

    def __init__(self, name: str, limit: float | Callable[[list[Flow]], float], reserve: float = 0.0) -> None:
        self.name = name
        self.limit = limit
        self.limit_now = 0.0
        """The limit for the flows that were active when rates were last solved."""
        self.reserve = reserve
        self.credit = 0.0
        self.used_rate = 0.0
        self.used_total = 0.0
        self.flows: list[Flow] = []
        self.changes = 0
        """Counts arrivals and departures of flows, so that what depends on them can be remembered."""

    def crowded(self) -> bool:
        """Whether flows want more than there is, and nothing is saved. Looks at the limit anew."""
        limit = self.limit
        self.limit_now = limit = limit(self.flows) if callable(limit) else limit
        return self.used_rate > limit and self.credit <= _TOLERANCE * self.reserve


class Flow:
    """An amount being worked off at a rate that `FluidSystem` sets.

    ``multiplicity`` identical flows are represented by this one; its ``uses`` are those of them all.
    """

    __slots__ = ("amount", "bound", "done", "multiplicity", "rate", "remaining", "rest", "tag", "uses")

    def __init__(
        self,
        amount: float,
        uses: Sequence[tuple[Capacity, float]],
        bound: float,
        multiplicity: float,
        done: simpy.Event,
        tag: object,
    ) -> None:
        self.amount = amount
        self.remaining = amount
        self.rest = _TOLERANCE * amount
        """So little that it counts as nothing."""
        self.uses = uses if multiplicity == 1.0 else [(capacity, multiplicity * weight) for capacity, weight in uses]
        self.bound = bound
        self.multiplicity = multiplicity
        self.done = done
        self.tag = tag
        self.rate = 0.0


class FluidSystem:
    """The flows and their rates over simulated time.

    ``bound_now``, if given, replaces a flow's own bound at each solve (a rate that
    depends on who else is active).
    """

    def __init__(self, sim: Simulation, bound_now: Callable[[Flow], float] | None = None) -> None:
        self._sim = sim
        self._bound_now = bound_now
        self._flows: list[Flow] = []
        self._capacities: dict[Capacity, None] = {}
        self._saving: list[Capacity] = []
        """Those with a reserve."""
        self._last = sim.now
        self._solving = False
        self._next: simpy.Event | None = None
        """When something changes by itself; any earlier one has become meaningless."""

    def start(
        self,
        amount: float,
        uses: Sequence[tuple[Capacity, float]],
        *,
        bound: float = inf,
        multiplicity: float = 1.0,
        tag: object = None,
    ) -> simpy.Event:
        """Begin a flow of ``amount`` units, which uses each capacity once; the event happens when it is worked off.

        Raises ValueError if nothing limits the flow.
        """
        done = self._sim.event()
        if amount <= 0.0:
            return done.succeed()
        if not uses and bound == inf:
            raise ValueError("a flow without capacity and without bound has no rate")
        flow = Flow(amount, uses, bound, multiplicity, done, tag)
        self._advance()
        self._flows.append(flow)
        for capacity, _ in uses:
            capacity.flows.append(flow)
            capacity.changes += 1
            if capacity not in self._capacities:
                self._capacities[capacity] = None
                if capacity.reserve > 0.0:
                    self._saving.append(capacity)
        self._changed()
        return done

    def _changed(self) -> None:
        if not self._solving:
            self._solving = True
            self._sim.call_late(self._resolve)

    def _advance(self) -> None:
        now = self._sim.env.now
        elapsed = now - self._last
        if elapsed <= 0.0:
            return
        self._last = now
        for flow in self._flows:
            flow.remaining -= flow.rate * elapsed
        for capacity in self._capacities:
            capacity.used_total += capacity.used_rate * elapsed
        for capacity in self._saving:
            credit = capacity.credit + (capacity.limit_now - capacity.used_rate) * elapsed
            capacity.credit = min(max(credit, 0.0), capacity.reserve)

    def _resolve(self, _event: simpy.Event) -> None:
        self._solving = False
        self._advance()
        if self._finish():
            return
        self._solve()
        self._schedule()

    def _finish(self) -> bool:
        """End the flows that are worked off; False if there are none."""
        left = [flow for flow in self._flows if flow.remaining > flow.rest]
        if len(left) == len(self._flows):
            return False
        finished = [flow for flow in self._flows if flow.remaining <= flow.rest]
        self._flows = left
        for flow in finished:
            for capacity, _ in flow.uses:
                capacity.flows.remove(flow)
                capacity.changes += 1
            flow.done.succeed()
        # Whoever was waiting may start the next flow in this same instant: solve after that.
        self._changed()
        return True

    def _solve(self) -> None:
        bound_now = self._bound_now
        for flow in self._flows:
            flow.rate = flow.bound if bound_now is None else bound_now(flow)
        self._add_up()
        # Usually everybody gets the own bound and nothing is full.
        crowded = [capacity for capacity in self._capacities if capacity.flows and capacity.crowded()]
        if crowded:
            if len(crowded) == 1:
                _share(crowded[0])
            else:
                self._fill()
            self._add_up()

    def _add_up(self) -> None:
        for capacity in self._capacities:
            capacity.used_rate = 0.0
        for flow in self._flows:
            rate = flow.rate
            for capacity, weight in flow.uses:
                capacity.used_rate += weight * rate

    def _fill(self) -> None:
        """Progressive filling; ``flow.rate`` holds the bounds on entry and the rates on return."""
        bounds = {flow: flow.rate for flow in self._flows}
        active = list(self._flows)
        room = {
            capacity: inf if capacity.credit > _TOLERANCE * capacity.reserve else capacity.limit_now
            for capacity in self._capacities
        }
        load = dict.fromkeys(room, 0.0)
        for flow in active:
            flow.rate = 0.0
            for capacity, weight in flow.uses:
                load[capacity] += weight
        level = 0.0
        while active:
            step, tight = _largest_step(min(bounds[flow] for flow in active) - level, room, load)
            level += step
            active = _freeze(active, bounds, level, tight, load)

    def _schedule(self) -> None:
        delay = inf
        for flow in self._flows:
            rate = flow.rate
            if rate > 0.0 and flow.remaining < delay * rate:
                delay = flow.remaining / rate
        for capacity in self._saving:
            overdraft = capacity.used_rate - capacity.limit_now
            if overdraft > 0.0 and capacity.credit > 0.0:
                delay = min(delay, capacity.credit / overdraft)
        self._next = None
        if delay == inf:
            return
        # The clock must move: below its resolution a flow is finished.
        now = self._sim.env.now
        if now + delay <= now:
            for flow in self._flows:
                if flow.rate > 0.0 and flow.remaining / flow.rate <= delay:
                    flow.remaining = 0.0
            for capacity in self._saving:
                if capacity.used_rate > capacity.limit_now:
                    capacity.credit = 0.0
            self._changed()
            return
        self._next = self._sim.call_at(delay, self._wake)

    def _wake(self, event: simpy.Event) -> None:
        if event is not self._next:
            return
        self._advance()
        # Everything that ends within the tolerance of this instant ends now.
        if not self._finish():
            for capacity in self._saving:
                if capacity.credit <= _TOLERANCE * capacity.reserve:
                    capacity.credit = 0.0
            self._changed()


def _share(capacity: Capacity) -> None:
    """Divide the only capacity that is full; ``flow.rate`` holds the bounds on entry and the rates on return."""
    wanted = sorted(
        ((flow.rate, weight, flow) for flow in capacity.flows for other, weight in flow.uses if other is capacity),
        key=_bound,
    )
    room, load = capacity.limit_now, sum(weight for _, weight, _ in wanted)
    for bound, weight, flow in wanted:
        if bound * load > room:
            flow.rate = max(room / load, 0.0)
        else:
            room -= bound * weight
            load -= weight


def _bound(wanted: tuple[float, float, Flow]) -> float:
    return wanted[0]


def _largest_step(
    step: float, room: dict[Capacity, float], load: dict[Capacity, float]
) -> tuple[float, Capacity | None]:
    """How far all rates can rise, at most ``step``, and the capacity that is full then; takes it from ``room``."""
    tight = None
    for capacity, demand in load.items():
        if demand > 0.0 and room[capacity] < step * demand:
            step = room[capacity] / demand
            tight = capacity
    step = max(step, 0.0)
    for capacity, demand in load.items():
        if demand > 0.0 and room[capacity] != inf:
            room[capacity] = max(room[capacity] - step * demand, 0.0)
    return step, tight


def _freeze(
    active: list[Flow], bounds: dict[Flow, float], level: float, tight: Capacity | None, load: dict[Capacity, float]
) -> list[Flow]:
    """The flows that can still grow; the others get the rate ``level`` and leave ``load``."""
    still = []
    for flow in active:
        full = tight is not None and any(capacity is tight for capacity, _ in flow.uses)
        if full or bounds[flow] <= level * (1.0 + 1e-12):
            flow.rate = level
            for capacity, weight in flow.uses:
                load[capacity] -= weight
                if load[capacity] < 1e-12 * weight:
                    load[capacity] = 0.0
        else:
            still.append(flow)
    if len(still) == len(active):  # a rounding stand-off: nobody can grow
        for flow in still:
            flow.rate = level
        return []
    return still
