"""Max-min fair rates of flows that draw on capacities which are full, by progressive filling.

Raise all rates together until a capacity is full or a bound is met, freeze the flows concerned, go on with the rest
(Bertsekas & Gallager, Data Networks, 6.5.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpusim.engine.fluid import Capacity, Flow

__all__ = ["fill", "share"]

_bound = itemgetter(0)
_rate = attrgetter("rate")


def share(capacity: Capacity) -> None:
    """Divide the only capacity that is full; ``flow.rate`` holds the bounds on entry and the rates on return."""
    wanted = [(flow.rate, weight, flow) for flow, weight in capacity.flows.items()]
    wanted.sort(key=_bound)
    room, load = capacity.limit_now, sum(weight for _, weight, _ in wanted)
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
    uses: dict[Flow, list[tuple[Capacity, float]]] = {}
    for capacity in capacities:
        for flow in capacity.flows:
            if flow not in uses:
                uses[flow] = full = [use for use in flow.uses if use[0] in room]
                for other, weight in full:
                    load[other] += weight
    active = sorted(uses, key=_rate)
    level = 0.0
    while active:
        # How far all rates can rise, and which capacity is full then.
        step, tight = active[0].rate - level, None
        for capacity, demand in load.items():
            if demand > 0.0 and room[capacity] < step * demand:
                step, tight = room[capacity] / demand, capacity
        if step > 0.0:
            level += step
            for capacity, demand in load.items():
                if demand > 0.0:
                    room[capacity] = max(room[capacity] - step * demand, 0.0)
        active = _freeze(active, uses, level, tight, load)


def _freeze(
    active: list[Flow],
    uses: dict[Flow, list[tuple[Capacity, float]]],
    level: float,
    tight: Capacity | None,
    load: dict[Capacity, float],
) -> list[Flow]:
    """The flows that can still grow; the others get the rate ``level`` and leave ``load``."""
    still = []
    reached, stopped = level * (1.0 + 1e-12), tight.flows if tight is not None else ()
    for flow in active:
        if flow.rate <= reached or flow in stopped:
            if flow.rate > level:
                flow.rate = level
            for capacity, weight in uses[flow]:
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
