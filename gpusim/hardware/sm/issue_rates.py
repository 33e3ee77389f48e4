"""How fast each group of warps issues, given all others that are active on its SM at the moment.

Models: issue slots shared among the warps of a scheduler (`gpusim.hardware.sm.schedule`), and what slows warps down
  beside that: stores, loads and copies of the same SM (`gpusim.hardware.sm.memory_stalls`) and products on the tensor
  cores.
Source: see there; realkernels.microbench (wgmma) for warps beside products.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter

from gpusim.engine import Capacity, Flow
from gpusim.hardware.memory.sm_memory import SmMemory
from gpusim.hardware.sm.memory_stalls import keep_behind_copies, stop_accesses, wait_behind_accesses
from gpusim.hardware.sm.schedule import Sharing
from gpusim.hardware.sm.tensor_cores import TensorCores

__all__ = ["IssueRates"]

_age = attrgetter("tag.age")


class IssueRates:
    """The rates of all flows on the schedulers of one SM, in issue slots per second.

    ``schedulers``: the issue slots of one scheduler of each class. ``multiplies``: whether its warps use mma.sync.
    """

    def __init__(
        self,
        sharing: Sharing,
        clock_hz: float,
        schedulers: Sequence[Capacity],
        tensor_cores: TensorCores,
        memory: SmMemory,
        multiplies: bool,
    ) -> None:
        self._clock = clock_hz
        self._schedulers = schedulers
        self._tensor_cores = tensor_cores
        self._memory = memory
        self._multiplies = multiplies
        self._sharing = sharing
        self._served: dict[Capacity, tuple[int, Sequence[Flow], Sequence[float]]] = {}
        """Flows and their rates as last found for a scheduler, and its count of changes then."""

    def solve(self) -> None:
        """Set the rate of each flow to what it gets among the other warps of its scheduler."""
        l1, copies = self._memory.l1, self._memory.copies
        stalls = (
            self._memory.stores.wait_s(),
            l1.wait_s() + copies.wait_s(),
            max(l1.stopped_s(), copies.stopped_s()),
        )
        stalled = self._multiplies or any(stalls)
        for scheduler, products in zip(self._schedulers, self._tensor_cores.asked, strict=True):
            flows: Collection[Flow] = scheduler.flows
            if not flows:
                continue
            if stalled or products:
                self._slow_down(scheduler, products, *stalls)
                continue
            # Usually nothing slows them down, and rates are those of last time.
            for flow, rate in zip(*self._shares(scheduler, flows), strict=True):
                flow.rate = rate

    def _slow_down(self, scheduler: Capacity, products: int, stores_s: float, loads_s: float, stopped_s: float) -> None:
        """`solve` for one scheduler, beside ``products`` and accesses to memory for which warps wait."""
        flows: Collection[Flow] = scheduler.flows
        for flow in flows:
            flow.rate = flow.bound
        if products:
            # These need nobody to issue them.
            flows = [flow for flow in flows if flow.tag is not None]
        if stores_s or loads_s:
            wait_behind_accesses(flows, stores_s, loads_s)
        if len(flows) > 1:
            for flow, rate in zip(*self._shares(scheduler, flows), strict=True):
                if rate < flow.rate:  # noqa: PLR1730 - `min` takes twice as long, and this is called most
                    flow.rate = rate
        if stopped_s:
            stop_accesses(flows, stopped_s)
        if products:
            for flow in flows:
                flow.rate *= self._tensor_cores.others_rate
        if self._multiplies:
            keep_behind_copies(flows, self._memory.queue)

    def _shares(self, scheduler: Capacity, flows: Collection[Flow]) -> tuple[Sequence[Flow], Sequence[float]]:
        """The ``flows`` of a scheduler and the rates that each gets among the others, no more than its own."""
        changes, queue, rates = self._served.get(scheduler, (-1, (), ()))
        if changes != scheduler.changes:
            if len(flows) == 1:
                queue = tuple(flows)
                rates = [flow.bound for flow in queue]
            else:
                queue = sorted(flows, key=_age)
                slots = self._sharing.slots_of([flow.tag for flow in queue])
                clock = self._clock
                rates = [min(flow.bound, clock * each) for flow, each in zip(queue, slots, strict=True)]
            self._served[scheduler] = scheduler.changes, queue, rates
        return queue, rates
