"""A server that takes one request after another and delivers each after a latency.

Inside one unit (a copy engine, an asynchronous-copy unit) requests do not share the
rate: the first one is finished first. Fluid sharing there would make a deeper pipeline
slower, since every copy in flight would delay the one that is needed next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import inf

import simpy

from gpusim.engine.fluid import Capacity, FluidSystem
from gpusim.engine.simulation import Simulation

__all__ = ["FifoServer"]


class FifoServer:
    """Serves requests in order of arrival at up to ``rate`` units per second.

    The work of a request is a flow in ``fluid``, so that several servers share what lies behind
    them (``uses`` of each request). ``multiplicity`` identical servers are represented.
    """

    def __init__(
        self, sim: Simulation, name: str, fluid: FluidSystem, rate: float, *, multiplicity: float = 1.0
    ) -> None:
        self._sim = sim
        self.name = name
        self._fluid = fluid
        self._rate = rate
        self._multiplicity = multiplicity
        self._queue: deque[tuple] = deque()
        self._busy = False

    def request(
        self,
        amount: float,
        uses: Sequence[tuple[Capacity, float]],
        *,
        rate: float = inf,
        part: float = 1.0,
        latency_s: Callable[[], float] | float = 0.0,
        served: Callable[[float, float], None] | None = None,
        tag: object = None,
    ) -> simpy.Event:
        """Queue ``amount`` units; the event happens ``latency_s`` after they have been served.

        ``rate``: units per second of this request, if it is served more slowly than others. ``part``: of the identical
        servers that have it at all. A callable latency is asked when service ends. ``served(start_s, end_s)`` is told
        the time in service; ``tag`` goes to the flow.
        """
        delivered = self._sim.event()
        self._queue.append((amount, uses, min(rate, self._rate), part, latency_s, served, delivered, tag))
        if not self._busy:
            self._next()
        return delivered

    def _next(self) -> None:
        if not self._queue:
            self._busy = False
            return
        self._busy = True
        entry = self._queue.popleft()
        amount, uses, rate, part, _, _, _, tag = entry
        start = self._sim.now
        done = self._fluid.start(amount, uses, bound=rate, multiplicity=part * self._multiplicity, tag=tag)
        done.callbacks.append(lambda _event: self._served(entry, start))

    def _served(self, entry: tuple, start: float) -> None:
        _, _, _, _, latency, served, delivered, _ = entry
        if served is not None:
            served(start, self._sim.now)
        self._sim.succeed_after(delivered, latency() if callable(latency) else latency)
        self._next()
