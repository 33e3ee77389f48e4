"""What is shared, and what draws on it: `gpusim.engine.fluid` says how, `gpusim.engine.sharing` at which rates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import simpy

__all__ = ["Capacity", "Flow"]

_TOLERANCE = 1e-9
"""A flow whose remaining amount is below this fraction of the whole is finished."""


class Capacity:
    """Something shared: at most ``limit`` units per second, over all flows that use it.

    ``limit`` may be a function of the active flows (an efficiency that depends on
    their number or mix). ``reserve`` is in units; 0 means no saving.
    """

    __slots__ = (
        "changes", "credit", "flows", "limit", "limit_now", "name", "nothing", "reserve", "used_rate", "used_total",
    )  # fmt: skip

    def __init__(self, name: str, limit: float | Callable[[Collection[Flow]], float], reserve: float = 0.0) -> None:
        self.name = name
        self.limit = limit
        self.limit_now = 0.0 if callable(limit) else limit
        """The limit for the flows that were active when rates were last solved."""
        self.reserve = reserve
        self.nothing = _TOLERANCE * reserve
        """So little saved that it counts as nothing."""
        self.credit = 0.0
        self.used_rate = 0.0
        self.used_total = 0.0
        self.flows: dict[Flow, float] = {}
        """Flows that use it now, in the order in which they came, and how much of it a unit of each takes."""
        self.changes = 0
        """Counts arrivals and departures of flows, so that what depends on them can be remembered."""


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
