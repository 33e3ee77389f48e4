"""Fluid sharing: flows that draw on capacities, with max-min fair rates.

Maximise the smallest rate, then the next smallest, and so on, subject to

    sum over flows i using capacity c of  multiplicity_i * weight_ic * rate_i  <=  capacity_c
    rate_i <= bound_i

(`gpusim.engine.sharing`). Rates are solved again once per instant in which a flow began or ended.

A capacity with a ``reserve`` may be overdrawn for a while: what it left unused is saved, up
to the reserve, and spent before the limit binds. It stands for many users out of step
of which only one is simulated: the others leave their share while this one needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import simpy

from gpusim.engine.flow import Capacity, Flow
from gpusim.engine.sharing import alone, fill, share
from gpusim.engine.simulation import Call, Simulation

__all__ = ["FluidSystem"]

_SAME_INSTANT = 1e-12
"""Of the time: what differs by less is rounding."""


class FluidSystem:
    """The flows and their rates over simulated time.

    ``bounds_now``, if given, is called at each solve to set the rates that flows have as long as nothing is full,
    where these are not their own bounds (rates that depend on who else is active).
    """

    def __init__(self, sim: Simulation, bounds_now: Callable[[list[Flow]], None] | None = None) -> None:
        self._sim = sim
        self._bounds_now = bounds_now
        self._flows: list[Flow] = []
        self._capacities: dict[Capacity, None] = {}
        self._saving: list[Capacity] = []
        """Capacities with a reserve."""
        self._varying: list[Capacity] = []
        """Capacities whose limit depends on their flows."""
        self._busy: list[Capacity] = []
        """Capacities that something passes through at the rates last found."""
        self._last = sim.now
        self._ended: list[Flow] = []
        """Flows that are worked off and do not know yet."""
        self._solving = False
        self._next: Call | None = None
        """When something changes by itself."""
        self._next_s = 0.0

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
        for capacity, weight in flow.uses:
            capacity.flows[flow] = weight
            capacity.changes += 1
            if capacity not in self._capacities:
                self._know(capacity)
        if not self._solving:
            self.changed()
        return done

    def used(self, capacity: Capacity) -> float:
        """What has passed through ``capacity`` up to now, in its units."""
        self._advance()
        if self._ended:
            self.changed()
        return capacity.used_total

    def _know(self, capacity: Capacity) -> None:
        self._capacities[capacity] = None
        if capacity.reserve > 0.0:
            self._saving.append(capacity)
        if callable(capacity.limit):
            self._varying.append(capacity)

    def changed(self) -> None:
        """Solve the rates again in this instant, because what they depend on has changed."""
        if not self._solving:
            self._solving = True
            self._sim.call_late(self._resolve)

    def _advance(self) -> None:
        now = self._sim.now
        elapsed = now - self._last
        if elapsed <= 0.0:
            return
        self._last = now
        for flow in self._flows:
            # Who waits for a share stays as it is.
            if flow.rate:
                flow.remaining = left = flow.remaining - flow.rate * elapsed
                if left <= flow.rest:
                    self._ended.append(flow)
        for capacity in self._busy:
            capacity.used_total += capacity.used_rate * elapsed
        for capacity in self._saving:
            credit = capacity.credit + (capacity.limit_now - capacity.used_rate) * elapsed
            capacity.credit = min(max(credit, 0.0), capacity.reserve)

    def _resolve(self) -> None:
        self._solving = False
        self._advance()
        # Whoever was waiting may start the next flow in this same instant: solve after that.
        if self._ended:
            self._finish()
        else:
            self._schedule(self._solve())

    def _finish(self) -> None:
        """End the flows that are worked off."""
        ended, self._ended = self._ended, []
        for flow in ended:
            self._flows.remove(flow)
            for capacity, _ in flow.uses:
                del capacity.flows[flow]
                capacity.changes += 1
            flow.done.succeed()
        self.changed()

    def _solve(self) -> float:
        """Set all rates; returns seconds until the first flow ends with them."""
        flows = self._flows
        if not flows:
            return self._add_up()
        if self._bounds_now is None:
            for flow in flows:
                flow.rate = flow.bound
        else:
            self._bounds_now(flows)
        for capacity in self._varying:
            if capacity.flows:
                capacity.limit_now = capacity.limit(capacity.flows)
        delay = self._add_up()
        # Usually everybody gets the own bound and nothing is full.
        full = [
            capacity
            for capacity in self._busy
            if capacity.used_rate > capacity.limit_now and capacity.credit <= capacity.nothing
        ]
        if full:
            if len(flows) == 1:
                alone(flows[0], full)
            elif len(full) == 1:
                share(full[0])
            else:
                fill(full)
            delay = self._add_up()
        return delay

    def _add_up(self) -> float:
        """Find what passes through each capacity; returns seconds until the first flow ends."""
        for capacity in self._busy:
            capacity.used_rate = 0.0
        busy: list[Capacity] = []
        delay = inf
        for flow in self._flows:
            rate = flow.rate
            if rate > 0.0:
                for capacity, weight in flow.uses:
                    if weight:
                        if not capacity.used_rate:
                            busy.append(capacity)
                        capacity.used_rate += weight * rate
                if flow.remaining < delay * rate:
                    delay = flow.remaining / rate
        self._busy = busy
        return delay

    def _schedule(self, delay: float) -> None:
        for capacity in self._saving:
            overdraft = capacity.used_rate - capacity.limit_now
            if overdraft > 0.0 and capacity.credit > 0.0:
                delay = min(delay, capacity.credit / overdraft)
        now = self._sim.now
        at = now + delay
        if self._next is not None:
            if at < inf and abs(at - self._next_s) <= _SAME_INSTANT * at:
                return
            self._next.cancel()
            self._next = None
        if at == inf:
            return
        # The clock must move: below its resolution a flow is finished.
        if at <= now:
            for flow in self._flows:
                if flow.rate > 0.0 and flow.remaining / flow.rate <= delay:
                    flow.remaining = 0.0
                    self._ended.append(flow)
            for capacity in self._saving:
                if capacity.used_rate > capacity.limit_now:
                    capacity.credit = 0.0
            self.changed()
            return
        self._next, self._next_s = self._sim.call_after(delay, self._wake), at

    def _wake(self, _call: Call) -> None:
        self._next = None
        self._advance()
        # Everything that ends within the tolerance of this instant ends now.
        if self._ended:
            self._finish()
        else:
            for capacity in self._saving:
                if capacity.credit <= capacity.nothing:
                    capacity.credit = 0.0
            self.changed()
