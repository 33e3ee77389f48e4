"""A streaming multiprocessor: schedulers, shared-memory pipe, copy units and CTA slots.

Models: four warp schedulers (equal ones are simulated once), each issuing one warp
  instruction a clock to the warps of all resident CTAs; one load-store unit, one data path of shared memory and L1,
  one unit for constants and one for mbarriers for the whole SM; three pipes of each scheduler; CTA slots
  that take the next CTA when one has ended.
Omits: the order among the warps of one CTA; how far CTAs of many tiles drift apart.
Source: Hopper tuning guide; realkernels.microbench (issue, fairness, turns, mixed, lds, pipes, ldg, cpasync, wgmma,
  launch).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Iterable
from operator import attrgetter
from typing import Any

from gpusim.engine import Capacity, Event, Flow, FluidSystem, Process, Simulation
from gpusim.hardware.folding.sm_classes import SmClass
from gpusim.hardware.folding.warp_groups import WarpGroup
from gpusim.hardware.folding.waves import Waves
from gpusim.hardware.memory.l1 import l1_bytes
from gpusim.hardware.memory.l2_and_hbm import Memory
from gpusim.hardware.memory.sm_memory import SmMemory
from gpusim.hardware.occupancy import shared_memory
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.compute import ComputeModel
from gpusim.hardware.sm.compute_cost import ComputeCost
from gpusim.hardware.sm.costs import InstructionCosts, MemoryBatch
from gpusim.hardware.sm.cta import Cta, Parts
from gpusim.hardware.sm.cta_dispatch import CtaDispatch
from gpusim.hardware.sm.memory_stalls import keep_behind_copies, stop_accesses, wait_behind_accesses
from gpusim.hardware.sm.open_end import OpenEnd
from gpusim.hardware.sm.schedule import Group, Sharing
from gpusim.hardware.sm.serial_units import SerialUnits
from gpusim.hardware.sm.tensor_cores import TensorCores
from gpusim.hardware.sm.warp import WarpLane
from gpusim.program import Compute, KernelProgram, Mix, Op, Role
from gpusim.timeline import Recorder

__all__ = ["Sm"]

_age = attrgetter("tag.age")

_Demand = tuple[float, list[tuple[Capacity, float]], float]
"""Amount, uses and bound of a flow."""

_SPREAD_STEP = 8
"""Cycles by which the spread of warps behind copies is told, so that few different ones occur."""


class Sm:
    """One SM, standing for the ``multiplicity`` SMs of its class."""

    def __init__(
        self,
        sim: Simulation,
        profile: DeviceProfile,
        program: KernelProgram,
        parts: Parts,
        memory: Memory,
        sm_class: SmClass,
        groups: list[list[WarpGroup]],
        scheduler_classes: int,
        waves: Waves | None,
        open_end: OpenEnd | None,
        trace: Recorder | None,
    ) -> None:
        self.sim = sim
        self.name = f"sm[{sm_class.sm}]"
        self.trace = trace
        self.costs = InstructionCosts.of(profile)
        room = l1_bytes(profile, shared_memory(program, profile), len(groups))
        self.memory = SmMemory(memory, self.name, sm_class.multiplicity, room, trace)
        self.multiplicity = sm_class.multiplicity
        self.without_last_cta = sm_class.multiplicity - round(sm_class.multiplicity * sm_class.part(0))
        """How many of these SMs do without the last CTA."""
        self.waves = waves
        self.ctas: list[Cta] = []
        self.ended_s: list[float] = []
        """Ends of this SM's CTAs, in the order in which they ended."""
        self._open_end = open_end
        self._program = program
        self._parts = parts
        self._groups = groups
        self._class = sm_class
        self._arithmetic = ComputeModel(profile)
        self._served: dict[Capacity, tuple[int, list[Flow], list[float]]] = {}
        self._sharing = Sharing(profile.value("sm.warps_served"), profile.value("sm.slot_wait"))
        self._shared_rates: dict[tuple[Any, ...], list[float]] = {}
        """Issue slots per second found before, by (CTA, warps, cost) of one flow after the other."""
        self._memory_costs: dict[tuple[MemoryBatch, bool], ComputeCost] = {}
        self._demands: dict[tuple[ComputeCost, WarpGroup, float, int], _Demand] = {}
        """Demands of flows found before, by cost, group and how far its warps are apart, from the next and in all."""
        self._fluid = FluidSystem(sim, self._set_rates)
        self.memory.l1.when_changed = self._fluid.changed
        self._multiplies = any(
            isinstance(op, Compute) and op.mix.mma for role in program.roles for op in program.sample(role)
        )
        """Whether warps multiply on the tensor cores and wait for it."""
        if self._multiplies and len(groups) > 1:
            self.memory.queue.when_changed = self._fluid.changed
        self.units = SerialUnits(sim, self.costs)
        self.at_once = 1
        """How many CTAs it has at the same time."""
        self._dispatch = CtaDispatch(profile, memory.latency.jitter_s(1.0) if memory.round_bytes else 0.0)
        clock = profile.clock_hz
        self._clock = clock
        self._issue = [Capacity(f"{self.name}.scheduler", clock) for _ in range(scheduler_classes)]
        self._pipes = [
            [Capacity(f"{self.name}.{kind}", clock) for kind in ("half_rate", "special", "tensor_core")]
            for _ in range(scheduler_classes)
        ]
        self._data = Capacity(f"{self.name}.shared_memory_and_l1", clock)
        cores = [tensor_core for *_, tensor_core in self._pipes]
        lane = f"{self.name}.tensor"
        self.tensor_cores = TensorCores(sim, profile, self._fluid, self._issue, cores, self._data, lane, trace)
        self._lsu = Capacity(f"{self.name}.lsu", clock)
        self._constants = Capacity(f"{self.name}.constants", clock)

    def compute(
        self, mix: Mix, group: WarpGroup, age: int, apart_s: float, owed: float, together: bool, spread_s: float
    ) -> tuple[Event, float]:
        """All warps of ``group`` execute ``mix``, and take ``owed`` issue slots; ``age``: the number of their CTA.

        ``apart_s``: time from one warp to the next; ``spread_s``: see `ComputeCost.queued`. ``together``: see
        `ComputeModel.cost`. The event comes with how far apart they are when they have done it.
        """
        cost = self._arithmetic.cost(mix, owed, group.loose, group.drifts, together)
        return self._flow(cost, group, age, apart_s, _SPREAD_STEP * round(spread_s * self._clock / _SPREAD_STEP))

    def issue_memory(self, batch: MemoryBatch, group: WarpGroup, age: int, apart_s: float) -> tuple[Event, float]:
        """All warps of ``group`` issue ``batch`` each; ``age``, ``apart_s`` and what comes back as in `compute`."""
        key = batch, group.loose
        cost = self._memory_costs.get(key)
        if cost is None:
            cost = self._memory_costs[key] = self._arithmetic.memory_cost(*key)
        return self._flow(cost, group, age, apart_s)

    def _flow(
        self, cost: ComputeCost, group: WarpGroup, age: int, apart_s: float, spread: int = 0
    ) -> tuple[Event, float]:
        if not cost.all_slots:
            return self.sim.event().succeed(), apart_s
        key = cost, group, apart_s, spread
        known = self._demands.get(key)
        if known is None:
            known = self._demands[key] = self._demand(*key)
        amount, uses, in_step = known
        done = self._fluid.start(amount, uses, bound=in_step, tag=Group(age, group.per_scheduler, cost))
        return done, max(apart_s, cost.last / self._clock)

    def _demand(self, cost: ComputeCost, group: WarpGroup, apart_s: float, spread: int) -> _Demand:
        uses = [(self._issue[group.scheduler_class], cost.taken)]
        pipes = self._pipes[group.scheduler_class]
        uses += [(pipe, part) for pipe, part in zip(pipes, cost.pipe_parts, strict=True) if part]
        each = group.schedulers / cost.all_slots
        if cost.data:
            uses.append((self._data, each * cost.data))
        if cost.requests:
            uses.append((self._lsu, each * cost.requests))
        if cost.constants:
            uses.append((self._constants, each * cost.constants))
        # The amount is the issue slots of one scheduler.
        amount = cost.all_slots * group.per_scheduler
        return amount, uses, self._clock * amount / cost.queued(group, apart_s * self._clock, spread)

    def _set_rates(self, _flows: list[Flow]) -> None:
        """Issue slots per second of all flows, each among the other warps of its scheduler."""
        l1 = self.memory.l1
        stopped_s, stores_s, loads_s = l1.stopped_s(), self.memory.stores.wait_s(), l1.wait_s()
        for scheduler, products in zip(self._issue, self.tensor_cores.asked, strict=True):
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
                    flow.rate *= self.tensor_cores.others_rate
            if self._multiplies:
                keep_behind_copies(flows, self.memory.queue)

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
        """Issue slots per second of each of the ``groups`` on one scheduler, those of the oldest CTA first."""
        # Which CTA it is does not matter, only which warps are of the same one.
        ctas: dict[int, int] = {}
        known: list[Any] = []
        for age, number, cost in groups:
            known += (ctas.setdefault(age, len(ctas)), number, cost)
        key = tuple(known)
        rates = self._shared_rates.get(key)
        if rates is None:
            slots = self._sharing.slots_per_cycle(groups)
            rates = self._shared_rates[key] = [self._clock * each for each in slots]
        return rates

    @property
    def first_lanes(self) -> int:
        """Lanes of the CTAs that it begins with."""
        return sum(len(groups) for groups in self._groups[: self.at_once])

    def ops(self, role: Role, cta: Cta) -> Iterable[Op]:
        """The ops of ``role`` in one of its CTAs."""
        if self._open_end is None or cta.age >= self.at_once:
            return self._parts.ops(role, cta.tiles)
        return self._open_end.ops(role, cta.tiles)

    def busy(self) -> tuple[float, float, float]:
        """Utilisation of the busiest scheduler, of shared memory and L1, and of the busiest tensor core, to the end."""
        cycles = self._clock * self.ended_s[-1]
        issued = max(scheduler.used_total for scheduler in self._issue)
        multiplied = max(tensor_core.used_total for *_, tensor_core in self._pipes)
        return issued / cycles, self._data.used_total / cycles, multiplied / cycles

    def run(self, ctas_per_sm: int) -> list[Process]:
        """Start the CTA slots; each process ends when no CTA is left for it."""
        waiting = deque(self._class.tiles)
        self.at_once = min(ctas_per_sm, len(waiting))
        return [self.sim.process(self._slot(slot, waiting)) for slot in range(self.at_once)]

    def _slot(self, slot: int, waiting: deque[int]) -> Generator:
        sim, dispatch = self.sim, self._dispatch
        lane, groups = f"{self.name}.cta[{slot}]", self._groups[slot]
        again, before = False, -1
        while waiting:
            tiles = waiting.popleft()
            part = self._class.part(len(waiting))
            start = dispatch.at_s(sim.now, again)
            if start > sim.now:
                yield sim.timeout(start - sim.now)
            yield sim.timeout(dispatch.start_s(len(self.ctas), again))
            if self.trace is not None:
                self.trace(lane, "launch", start, sim.now, reason="launch", cause=before)
            cta = Cta(sim, self._program, self._parts, groups, lane, tiles, len(self.ctas), part)
            if self._open_end is not None:
                cta.leave_out(self._open_end.missing)
            self.ctas.append(cta)
            lanes = [WarpLane(self, cta, group, dispatch.warps_s(group.last + 1, again)) for group in groups]
            again = True
            for warps, process in [(warps, sim.process(warps.run())) for warps in lanes]:
                waited_since = sim.now
                yield process
                if sim.now > waited_since:
                    before = warps.last_interval
            # Of warps that do the same, those that wait most wait for the others.
            slowest: dict[str, WarpLane] = {}
            for warps in sorted(lanes, key=_waits):
                slowest.setdefault(warps.role.name, warps)
            most = max(slowest.values(), key=_waits)
            cta.waits, cta.waits_per_tile = most.waits, most.waits_per_tile
            self.ended_s.append(sim.now)
            if self.waves is not None:
                # Of the last CTAs each is another one, as some SMs do without it.
                alike = len(waiting) - max(len(self._class.parts), 1)
                for _ in range(self.waves.leave_out(self.ended_s, alike)):
                    waiting.popleft()


def _waits(warps: WarpLane) -> int:
    return warps.waits
