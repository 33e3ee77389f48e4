"""Max-min fair rates of flows that draw on capacities which are full, by progressive filling.

Raise all rates together until a capacity is full or a bound is met, freeze the flows concerned, go on with the rest
(Bertsekas & Gallager, Data Networks, 6.5.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter, itemgetter

from gpusim.engine.flow import Capacity, Flow

__all__ = ["alone", "fill", "share"]

_bound = itemgetter(0)
_rate = attrgetter("rate")


def alone(flow: Flow, capacities: Sequence[Capacity]) -> None:
    """Give the only flow that there is what ``capacities``, all that are full, have; ``flow.rate`` as for `share`."""
    for capacity in capacities:
        weight = capacity.flows[flow]
        if capacity.limit_now < flow.rate * weight:
            flow.rate = max(capacity.limit_now / weight, 0.0)


def share(capacity: Capacity) -> None:
    """Divide the only capacity that is full; ``flow.rate`` holds the bounds on entry and the rates on return."""
    wanted = [(flow.rate, weight, flow) for flow, weight in capacity.flows.items()]
    wanted.sort(key=_bound)
    room, load = capacity.limit_now, sum([weight for _, weight, _ in wanted])
    for bound, weight, flow in wanted:
        if bound * load > room:
            flow.rate = max(room / load, 0.0)
        else:
            room -= bound * weight
            load -= weight


def fill(capacities: Sequence[Capacity]) -> None:
    """Divide ``capacities``, all that are full; ``flow.rate`` as for `share`. Who uses none of them keeps the bound."""
    room = {capacity: capacity.limit_now for capacity in capacities}
    load = dict.fromkeys(room, 0.0)
    flows = dict.fromkeys(chain(*[capacity.flows for capacity in capacities]))
    for flow in flows:
        for capacity, weight in flow.uses:
            if capacity in load:
                load[capacity] += weight
    active = sorted(flows, key=_rate)
    level = 0.0
    while active:
        # How far all rates can rise, and which capacity is full then.
        step, tight = active[0].rate - level, None
        for capacity, demand in load.items():
            if demand > 0.0 and room[capacity] < step * demand:
                step, tight = room[capacity] / demand, capacity
        step = max(step, 0.0)
        level += step
        frozen, active = _parted(active, level, tight)
        for flow in frozen:
            flow.rate = min(flow.rate, level)
        if active:
            for capacity, demand in load.items():
                if demand > 0.0:
                    room[capacity] = max(room[capacity] - step * demand, 0.0)
            _leave(frozen, load)


def _parted(active: list[Flow], level: float, tight: Capacity | None) -> tuple[list[Flow], list[Flow]]:
    """The flows of which ``level`` is the rate or above it, and those that can still grow."""
    frozen: list[Flow] = []
    still: list[Flow] = []
    reached, stopped = level * (1.0 + 1e-12), tight.flows if tight is not None else ()
    for flow in active:
        (frozen if flow.rate <= reached or flow in stopped else still).append(flow)
    # A rounding stand-off: nobody can grow.
    return (frozen, still) if frozen else (still, frozen)


def _leave(frozen: list[Flow], load: dict[Capacity, float]) -> None:
    """Take what ``frozen`` flows draw for a unit of their rate out of ``load``."""
    for flow in frozen:
        for capacity, weight in flow.uses:
            if capacity in load:
                load[capacity] -= weight
                if load[capacity] < 1e-12 * weight:
                    load[capacity] = 0.0
