"""A server that works on one request after another and delivers each after a latency.

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

    The work of the request at the head is a flow in ``fluid``, so that several servers
    share what lies behind them (``uses`` of each request). ``overhead_s`` is added to
    each request's time in service, ``multiplicity`` identical servers are represented.
    """

    def __init__(
        self,
        sim: Simulation,
        name: str,
        fluid: FluidSystem,
        rate: float,
        *,
        overhead_s: float = 0.0,
        multiplicity: float = 1.0,
    ) -> None:
        self._sim = sim
        self.name = name
        self._fluid = fluid
        self._rate = rate
        self._overhead_s = overhead_s
        self._multiplicity = multiplicity
        self._queue: deque[tuple] = deque()
        self._busy = False
        self.busy_until = 0.0

    def request(
        self,
        amount: float,
        uses: Sequence[tuple[Capacity, float]],
        *,
        latency_s: Callable[[], float] | float = 0.0,
        bound: float = inf,
        served: Callable[[float, float], None] | None = None,
        tag: object = None,
    ) -> simpy.Event:
        """Queue ``amount`` units; the event happens ``latency_s`` after they have been served.

        A callable latency is asked when service ends. ``served(start_s, end_s)`` is told the
        time in service; ``tag`` goes to the flow.
        """
        delivered = self._sim.event()
        self._queue.append((amount, uses, latency_s, bound, served, delivered, tag))
        if not self._busy:
            self._next()
        return delivered

    def _next(self) -> None:
        if not self._queue:
            self._busy = False
            return
        self._busy = True
        entry = self._queue.popleft()
        start = self._sim.now
        if self._overhead_s > 0.0:
            self._sim.call_at(self._overhead_s, lambda _event: self._serve(entry, start))
        else:
            self._serve(entry, start)

    def _serve(self, entry: tuple, start: float) -> None:
        amount, uses, _, bound, _, _, tag = entry
        done = self._fluid.start(
            amount, uses, bound=min(bound, self._rate), multiplicity=self._multiplicity, tag=tag
        )
        done.callbacks.append(lambda _event: self._served(entry, start))

    def _served(self, entry: tuple, start: float) -> None:
        _, _, latency, _, served, delivered, _ = entry
        now = self._sim.now
        if served is not None:
            served(start, now)
        delay = latency() if callable(latency) else latency
        if delay > 0.0:
            self._sim.call_at(delay, lambda _event: delivered.succeed())
        else:
            delivered.succeed()
        self._next()
