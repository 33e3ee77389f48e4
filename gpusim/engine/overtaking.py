"""A server of one queue or several: each in order, but those behind may get ahead of those before them by so much.

Inside one unit (an asynchronous-copy unit, a store path) requests do not share the rate: the first one is finished
first, and is delivered after a latency. Fluid sharing there would make a deeper pipeline slower, since every copy in
flight would delay the one that is needed next. A memory lies between the two: it serves its requests in the order that
suits it, out of those that wait at the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import inf

import simpy

from gpusim.engine.flow import Capacity
from gpusim.engine.fluid import FluidSystem
from gpusim.engine.simulation import Simulation

__all__ = ["OvertakingServer"]

_REST = 1e-9
"""A part of a request below which it is nothing."""


@dataclass(eq=False, slots=True)
class _Request:
    """One that is being served, or waits until those before it are."""

    left: float
    rest: float
    """So little left that it counts as nothing."""
    uses: Sequence[tuple[Capacity, float]]
    rate: float
    part: float
    latency_s: Callable[[], float] | float
    served: Callable[[float, float], None] | None
    delivered: simpy.Event
    queue: Hashable
    in_turn: bool
    weight: float
    allowed: float
    """What others that came later may still get ahead of it by."""
    asked_s: float
    active: bool = False


class OvertakingServer:
    """Serves what is asked for at up to ``rate`` units per second each, while capacities in ``fluid`` set the pace.

    Those of one queue are served in order, those of several side by side. But of two that have a ``weight`` the later
    one gets ahead of the earlier, whatever their queues, as far as others have left of a ``window``: so much, of
    ``weight`` times their units, may get ahead of any one. ``multiplicity`` identical servers are represented.
    """

    def __init__(
        self, sim: Simulation, fluid: FluidSystem, rate: float, *, window: float = 0.0, multiplicity: float = 1.0
    ) -> None:
        self._sim = sim
        self._fluid = fluid
        self._rate = rate
        self._window = window
        self._multiplicity = multiplicity
        self._requests: list[_Request] = []
        """All that are not done, in the order in which they came."""
        self._weightless = 0
        """How many of them have no weight."""
        self._waiting = 0
        """How many of them are not being served."""
        self._nothing = _REST * window if window < inf else 0.0

    def request(
        self,
        amount: float,
        uses: Sequence[tuple[Capacity, float]],
        *,
        queue: Hashable = None,
        in_turn: bool = False,
        weight: float = 0.0,
        rate: float = inf,
        part: float = 1.0,
        latency_s: Callable[[], float] | float = 0.0,
        served: Callable[[float, float], None] | None = None,
    ) -> simpy.Event:
        """Ask for ``amount`` units as one of ``queue``; the event happens ``latency_s`` after they have been served.

        ``in_turn``: it gets ahead of none of its queue, and none that comes later ahead of it. ``rate``: units per
        second of this request, if it is served more slowly than others. ``part``: of the identical servers that have it
        at all. A callable latency is asked when service ends. ``served(start_s, end_s)`` is told when it
        was asked for and when its service ended.
        """
        request = _Request(
            amount, _REST * amount, uses, min(rate, self._rate), part, latency_s, served, self._sim.event(), queue,
            in_turn, weight, self._window, self._sim.now,
        )  # fmt: skip
        self._requests.append(request)
        self._weightless += not weight
        self._waiting += 1
        self._serve(request)
        return request.delivered

    def _serve(self, only: _Request | None = None) -> None:
        """Begin with as much of each request that waits, or of ``only`` one, as those before it leave."""
        if not self._waiting:
            return
        # By how much every request before this one may still be overtaken
        least = inf
        # Of each queue whether any request before this one is in turn, and whether any has no weight
        queues: dict[Hashable, tuple[bool, bool]] = {}
        for at, request in enumerate(self._requests):
            if least <= self._nothing and not self._weightless:
                return  # nobody behind can get ahead
            before, weight = queues.get(request.queue), request.weight
            if not request.active and only in (None, request) and not _is_behind(request, before):
                chunk = min(request.left, least / weight) if weight else request.left
                if chunk > request.rest or request.left <= request.rest:
                    least -= self._get_ahead(at, chunk)
                    self._start(request, chunk)
            in_turn, weightless = before or (False, False)
            queues[request.queue] = in_turn or request.in_turn, weightless or not weight
            if weight:
                least = min(least, request.allowed)

    def _get_ahead(self, at: int, chunk: float) -> float:
        """What ``chunk`` of the request in place ``at`` takes of the window of each one before it; 0 without weight."""
        weight = self._requests[at].weight
        if not weight:
            return 0.0
        for overtaken in self._requests[:at]:
            if overtaken.weight:
                overtaken.allowed -= chunk * weight
        return chunk * weight

    def _start(self, request: _Request, chunk: float) -> None:
        request.active = True
        self._waiting -= 1
        done = self._fluid.start(
            chunk, request.uses, bound=request.rate, multiplicity=request.part * self._multiplicity
        )
        done.callbacks.append(lambda _event: self._done(request, chunk))

    def _done(self, request: _Request, chunk: float) -> None:
        request.active = False
        request.left -= chunk
        if request.left > request.rest:
            self._waiting += 1
            self._serve(request)
            return
        self._requests.remove(request)
        self._weightless -= not request.weight
        if request.served is not None:
            request.served(request.asked_s, self._sim.now)
        latency = request.latency_s
        self._sim.succeed_after(request.delivered, latency() if callable(latency) else latency)
        self._serve()


def _is_behind(request: _Request, before: tuple[bool, bool] | None) -> bool:
    """Whether those of its queue ``before`` it, if there are any, have to be done first."""
    if before is None:
        return False
    in_turn, weightless = before
    return in_turn or weightless or request.in_turn or not request.weight
