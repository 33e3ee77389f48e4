"""How fast each group of warps issues, given all others that are active on its SM at the moment.

Models: issue slots shared among the warps of a scheduler (`gpusim.hardware.sm.schedule`), and what slows warps down
  beside that: stores, loads and copies of the same SM (`gpusim.hardware.sm.memory_stalls`) and products on the tensor
  cores.
Source: see there; realkernels.microbench (wgmma) for warps beside products.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

from gpusim.engine import Capacity, Flow
from gpusim.hardware.memory.sm_memory import SmMemory
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.memory_stalls import keep_behind_copies, stop_accesses, wait_behind_accesses
from gpusim.hardware.sm.schedule import Group, Sharing
from gpusim.hardware.sm.tensor_cores import TensorCores

__all__ = ["IssueRates"]

_age = attrgetter("tag.age")


class IssueRates:
    """The rates of all flows on the schedulers of one SM, in issue slots per second.

    ``schedulers``: the issue slots of one scheduler of each class. ``multiplies``: whether its warps use mma.sync.
    """

    def __init__(
        self,
        profile: DeviceProfile,
        schedulers: Sequence[Capacity],
        tensor_cores: TensorCores,
        memory: SmMemory,
        multiplies: bool,
    ) -> None:
        self._clock = profile.clock_hz
        self._schedulers = schedulers
        self._tensor_cores = tensor_cores
        self._memory = memory
        self._multiplies = multiplies
        self._sharing = Sharing(profile.value("sm.warps_served"), profile.value("sm.slot_wait"))
        self._served: dict[Capacity, tuple[int, list[Flow], list[float]]] = {}
        """Flows and their rates as last found for a scheduler, and its count of changes then."""
        self._known: dict[tuple[Any, ...], list[float]] = {}
        """Rates found before, by (CTA, warps, cost) of one flow after the other."""

    def solve(self) -> None:
        """Set the rate of each flow to what it gets among the other warps of its scheduler."""
        l1 = self._memory.l1
        stopped_s, stores_s, loads_s = l1.stopped_s(), self._memory.stores.wait_s(), l1.wait_s()
        for scheduler, products in zip(self._schedulers, self._tensor_cores.asked, strict=True):
            flows: Collection[Flow] = scheduler.flows
            for flow in flows:
                flow.rate = flow.bound
            if products:
                # These need nobody to issue them.
                flows = [flow for flow in flows if flow.tag is not None]
            if stores_s or loads_s:
                wait_behind_accesses(flows, stores_s, loads_s)
            if len(flows) > 1:
                self._share(scheduler, flows)
            if stopped_s:
                stop_accesses(flows, stopped_s)
            if products:
                for flow in flows:
                    flow.rate *= self._tensor_cores.others_rate
            if self._multiplies:
                keep_behind_copies(flows, self._memory.queue)

    def _share(self, scheduler: Capacity, flows: Collection[Flow]) -> None:
        """Lower the rates of ``flows`` to what each gets among the others."""
        changes, queue, rates = self._served.get(scheduler, (-1, [], []))
        if changes != scheduler.changes:
            queue = sorted(flows, key=_age)
            rates = self._serve([flow.tag for flow in queue])
            self._served[scheduler] = scheduler.changes, queue, rates
        for flow, rate in zip(queue, rates, strict=True):
            if rate < flow.rate:  # noqa: PLR1730 - `min` takes twice as long, and this is called most
                flow.rate = rate

    def _serve(self, groups: list[Group]) -> list[float]:
        """The rate of each of the ``groups`` on one scheduler, those of the oldest CTA first."""
        # Which CTA it is does not matter, only which warps are of the same one.
        ctas: dict[int, int] = {}
        known: list[Any] = []
        for age, number, cost in groups:
            known += (ctas.setdefault(age, len(ctas)), number, cost)
        key = tuple(known)
        rates = self._known.get(key)
        if rates is None:
            slots = self._sharing.slots_per_cycle(groups)
            rates = self._known[key] = [self._clock * each for each in slots]
        return rates
