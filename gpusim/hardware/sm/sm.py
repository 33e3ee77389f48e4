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
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from gpusim.engine import Capacity, Event, FluidSystem, Process, Simulation
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
from gpusim.hardware.sm.issue_rates import IssueRates
from gpusim.hardware.sm.open_end import OpenEnd
from gpusim.hardware.sm.schedule import Group, Sharing
from gpusim.hardware.sm.serial_units import SerialUnits
from gpusim.hardware.sm.tensor_cores import TensorCores
from gpusim.hardware.sm.warp import WarpLane
from gpusim.hardware.sm.warp_dependents import GridDependency
from gpusim.program import Compute, KernelProgram, Mix, Op, Role
from gpusim.timeline import Recorder

__all__ = ["Sm", "SmWork"]

_Demand = tuple[float, list[tuple[Capacity, float]], float]
"""Amount, uses and bound of a flow."""

_SPREAD_STEP = 8
"""Cycles by which the spread of warps behind copies is told, so that few different ones occur."""


@dataclass(frozen=True)
class SmWork:
    """What the SMs of a launch run, as far as it is the same for all of them."""

    program: KernelProgram
    parts: Parts
    groups: list[list[WarpGroup]]
    """Groups of warps of a CTA, by the slot it is in; there are as many slots as CTAs find room."""
    scheduler_classes: int
    """Schedulers that get different warps; equal ones are simulated once."""
    arithmetic: ComputeModel
    sharing: Sharing
    dependency: GridDependency
    waves: Waves | None = None
    """Decides which waves of CTAs are left out; None: no wave is."""
    open_end: OpenEnd | None = None
    """Decides which tiles of the first CTAs are left out; None: no tile is."""


class Sm:
    """One SM, standing for the ``multiplicity`` SMs of its class."""

    def __init__(
        self,
        sim: Simulation,
        profile: DeviceProfile,
        work: SmWork,
        sm_class: SmClass,
        memory: Memory,
        trace: Recorder | None,
    ) -> None:
        program, slots = work.program, len(work.groups)
        self.sim = sim
        self.name = f"sm[{sm_class.sm}]"
        self.trace = trace
        self.costs = InstructionCosts.of(profile)
        room = l1_bytes(profile, shared_memory(program, profile), slots)
        self.memory = SmMemory(memory, self.name, sm_class.multiplicity, room, trace)
        self.multiplicity = sm_class.multiplicity
        self.without_last_cta = sm_class.multiplicity - round(sm_class.multiplicity * sm_class.part(0))
        """How many of these SMs do without the last CTA."""
        self.waves = work.waves
        self.ctas: list[Cta] = []
        self.ended_s: list[float] = []
        """Ends of this SM's CTAs, in the order in which they ended."""
        self.at_once = 1
        """How many CTAs it has at the same time."""
        self.dependency = work.dependency
        self._work = work
        self._class = sm_class
        self._dispatch = CtaDispatch(profile, memory.latency.jitter_s(1.0) if memory.round_bytes else 0.0)
        self._arithmetic = work.arithmetic
        self._memory_costs: dict[tuple[MemoryBatch, bool], ComputeCost] = {}
        self._demands: dict[tuple[ComputeCost, WarpGroup, float, int], _Demand] = {}
        """Demands of flows found before, by cost, group and how far its warps are apart, from the next and in all."""
        self.units = SerialUnits(sim, self.costs)
        self._clock = profile.clock_hz
        self._open_units(work.scheduler_classes)
        self._fluid = FluidSystem(sim, lambda _flows: self._issue_rates.solve())
        self.memory.l1.when_changed = self.memory.copies.when_changed = self._fluid.changed
        multiplies = _multiplies(program)
        if multiplies and slots > 1:
            self.memory.queue.when_changed = self._fluid.changed
        cores = [tensor_core for *_, tensor_core in self._pipes]
        lane = f"{self.name}.tensor"
        self.tensor_cores = TensorCores(sim, profile, self._fluid, self._issue, cores, self._data, lane, trace)
        self._issue_rates = IssueRates(
            work.sharing, self._clock, self._issue, self.tensor_cores, self.memory, multiplies
        )

    def _open_units(self, scheduler_classes: int) -> None:
        """What warps share: each scheduler's issue slots and pipes, and what the SM has once; in cycles per second."""
        clock = self._clock
        self._issue = [Capacity(f"{self.name}.scheduler", clock) for _ in range(scheduler_classes)]
        self._pipes = [
            [Capacity(f"{self.name}.{kind}", clock) for kind in ("half_rate", "special", "tensor_core")]
            for _ in range(scheduler_classes)
        ]
        self._data = Capacity(f"{self.name}.shared_memory_and_l1", clock)
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

    @property
    def first_lanes(self) -> int:
        """Lanes of the CTAs that it begins with."""
        return sum(len(groups) for groups in self._work.groups[: self.at_once])

    def ops(self, role: Role, cta: Cta) -> Iterable[Op]:
        """The ops of ``role`` in one of its CTAs."""
        work = self._work
        if work.open_end is None or cta.age >= self.at_once:
            return work.parts.ops(role, cta.tiles)
        return work.open_end.ops(role, cta.tiles)

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
        sim, dispatch, work = self.sim, self._dispatch, self._work
        lane, groups = f"{self.name}.cta[{slot}]", work.groups[slot]
        again, before = False, -1
        while waiting:
            tiles = waiting.popleft()
            part = self._class.part(len(waiting))
            start = dispatch.hand_out(sim.now, again)
            if start > sim.now:
                yield sim.timeout(start - sim.now)
            yield sim.timeout(dispatch.start_s(len(self.ctas), again))
            if self.trace is not None:
                self.trace(lane, "launch", start, sim.now, reason="launch", cause=before)
            cta = Cta(sim, work.program, work.parts, groups, lane, tiles, len(self.ctas), part)
            if work.open_end is not None:
                cta.leave_out(work.open_end.missing)
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


def _multiplies(program: KernelProgram) -> bool:
    """Whether warps multiply on the tensor cores and wait for it (mma.sync)."""
    return any(isinstance(op, Compute) and op.mix.mma for role in program.roles for op in program.sample(role))


def _waits(warps: WarpLane) -> int:
    return warps.waits
