"""How long instructions take: one warp alone, and several on one scheduler.

Models: each scheduler issues one warp instruction a clock. A warp that loops over shared-memory
  loads and dependent FMAs stalls for the load's latency in every turn, issues its arithmetic
  as fast as its ILP allows, and waits for each instruction of the code around the loop. Other
  warps fill these gaps, except that warps which run the same instructions started together
  and stay in step: all of them stall for the load, and all of them run the code around the loop at the
  same time, and what they all want of the SM at once they get one after the other. What stands between a load and its
  use hides as much of the stall, of every warp in step. Warps with more chains of FFMAs than these have cycles of
  latency are served one after the other instead, and then stall at different times: closed queues at the scheduler
  and at shared memory (`gpusim.hardware.closed_queue`).
  So do warps that wait for their own loads only. While a pipe holds up a warp those that need another one can issue.
  ld.shared and st.shared occupy the SM's 128 B-a-clock data path, and so do loads and stores of global memory; the
  load-store unit takes 16 lanes of up to 16 bytes a clock, and as long for an access that no lane executes.
Omits: which registers meet in a bank and which pipes are busy (the program says how many cycles that costs),
  instruction-cache misses; warps that do different things are a matter of `gpusim.hardware.schedule`.
Source: realkernels.microbench (issue, steps, lds, gather, pipes, masked, lds_ffma, ahead, tile_turn, skeleton,
  short_ctas).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpusim.hardware.access import LINE_BYTES, Passes
from gpusim.hardware.closed_queue import both_in_turn, for_scheduler
from gpusim.hardware.costs import MemoryIssue
from gpusim.hardware.fold import WarpGroup
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import WARP_SIZE, Mix
from gpusim.program.dispatch import HALF_RATE

__all__ = ["FEW_CHAINS", "ComputeCost", "ComputeModel"]

FEW_CHAINS = 4.0
"""Independent FFMAs of a warp, as many as their latency has cycles, up to which warps share a scheduler evenly and stay
in step (`lds_ffma`); with sixteen each goes on until it stalls (`ahead`, `last_wave`)."""
_WIDEST = 16
"""Bytes of a lane of the widest access."""
_WORD = 4
"""Bytes of a lane of which a whole warp's are one wavefront."""


@dataclass(frozen=True, slots=True, eq=False)
class ComputeCost:
    """One warp's instructions, in cycles; compared by identity, because each mix has one.

    ``slots``: issue slots of the loop; ``alone``: its time when no other warp is there;
    ``stall``: the part of it in which warps in step all wait; ``setup_slots``/``setup_alone``: the
    same of the code around the loop. Of the whole SM: ``data``, cycles of the path of shared memory and L1;
    ``requests``, cycles of the load-store unit; ``constants``, of the unit that loads these, which leaves any number of
    such warps on one scheduler no more than ``most`` issue slots a cycle. ``pipe``: cycles of a scheduler's fullest
    pipe of half rate. ``batches``: loads from shared memory that
    wait for the one before; ``ahead``: issue slots of the warp between each and its use; ``greedy``: other warps get
    nothing until it stalls. ``burst``: cycles of one of the batches that the warp asks for at once, ``last`` those of
    the last instruction of them; ``gaps``: what is free between them for others. ``held``: cycles of the
    slots in which a pipe holds up only those who need it as well. ``away``: cycles from when shared memory has served a
    batch of loads until the warp needs it, less what it does meanwhile. ``schedulers``: of an SM. ``loose``: others
    that wait for slots get what such warps leave, and these what others leave.
    """

    slots: float
    alone: float
    stall: float
    setup_slots: float
    setup_alone: float
    data: float
    requests: float
    constants: float = 0.0
    pipe: float = 0.0
    most: float = 1.0
    batches: float = 0.0
    ahead: float = 0.0
    greedy: bool = False
    burst: float = 0.0
    last: float = 0.0
    gaps: float = 0.0
    held: float = 0.0
    away: float = 0.0
    schedulers: float = 1.0
    loose: bool = False

    taken: float = field(init=False)
    """Part of its slots in which nobody else can issue."""
    all_slots: float = field(init=False)
    """Issue slots in all."""
    demand: float = field(init=False)
    """Issue slots per cycle that the warp takes when it is alone."""
    runs: float = field(init=False)
    """The same in its loop."""
    density: float = field(init=False)
    """The same between its loop's waits for shared memory: 1 if one instruction goes right behind the other."""
    looping: float = field(init=False)
    """Part of its time alone that is the loop."""

    def __post_init__(self) -> None:
        cycles = (self.alone + self.setup_alone) or 1.0
        object.__setattr__(self, "all_slots", self.slots + self.setup_slots)
        object.__setattr__(self, "taken", 1.0 - self.held / (self.all_slots or 1.0))
        object.__setattr__(self, "demand", self.all_slots / cycles)
        object.__setattr__(self, "runs", min(self.slots / (self.alone or 1.0), 1.0))
        object.__setattr__(self, "density", min(self.slots / ((self.alone - self.stall) or 1.0), 1.0))
        object.__setattr__(self, "looping", self.alone / cycles)

    def together(self, warps: float, schedulers: float = 1.0) -> float:
        """Cycles until ``warps`` such warps of each of ``schedulers``, in step, are done."""
        least = max(self.data, self.requests, self.constants)
        if warps <= 1 and not (self._queues and schedulers > 1.0):
            return max(self.alone + self.setup_alone, least)
        return max(self._issued(warps), least)

    def queued(self, group: WarpGroup, apart: float) -> float:
        """The same of the warps in step with ``group``, of which each begins ``apart`` cycles after the one before.

        Who needs an SM's unit at once gets it one after the other: the last warp begins its arithmetic with the last
        data, and the last scheduler with those of its first warp.
        """
        if self._queues:
            return self.together(group.per_scheduler, group.schedulers)
        later = max(self.burst - apart, 0.0)
        alone = self.alone + self.setup_alone
        free = self.ahead * group.per_scheduler
        last_warp = alone + max((group.in_step - 1) * later - self.gaps - free, 0.0)
        last_scheduler = max((group.schedulers - 1) * later - free, 0.0)
        return max(self.together(group.per_scheduler) + last_scheduler, last_warp)

    def turn(self, warps: float) -> float:
        """Cycles from one of its instructions to the next among ``warps`` such warps."""
        return self._issued(warps) / self.all_slots

    @property
    def _queues(self) -> bool:
        """Whether its warps stall at different times, and so queue for the scheduler and for shared memory."""
        return self.greedy and self.batches > 0.0

    def _issued(self, warps: float) -> float:
        return max(self.alone, self._loops(warps)) + max(self.setup_alone, warps * self.setup_slots)

    def _loops(self, warps: float) -> float:
        """Cycles of the loops of ``warps`` warps."""
        if self._queues:
            each, batches = self.slots / self.batches, self.batches
            varying = for_scheduler(warps, each, self.stall / batches)
            return batches * max(varying, both_in_turn(warps, self.schedulers, each, self.burst, self.away))
        # What others in step issue between a load and its use hides the stall as well.
        return warps * self.slots + max(self.stall - (warps - 1.0) * self.ahead * self.batches, 0.0)


class ComputeModel:
    """Costs of instructions on one device; those of a `Mix` are remembered."""

    def __init__(self, profile: DeviceProfile) -> None:
        value = profile.value
        self._ffma_slots = 1.0 / value("sm.ffma_issue_rate")
        self._ffma_latency = value("sm.ffma_latency")
        self._control_latency = value("sm.control_latency")
        self._setup_latency = value("sm.setup_latency")
        self._lds_latency = value("sm.lds_latency")
        self._lds_latency_more = value("sm.lds_latency_per_extra_wavefront")
        self._lds_interval = value("sm.lds_interval")
        self._lds_interval_more = value("sm.lds_interval_per_wavefront")
        self._sts_interval = value("sm.sts_interval")
        self._sts_interval_more = value("sm.sts_interval_per_extra_wavefront")
        self._mufu_interval = value("sm.mufu_issue_interval")
        self._dispatch_stall = value("sm.dispatch_stall")
        self._schedulers = value("sm.schedulers")
        self._ldc_interval = value("sm.ldc_interval")
        self._ldc_latency = value("sm.ldc_latency")
        self._line_interval = value("lsu.line_interval")
        self._tag_interval = value("lsu.tag_interval")
        self._masked_interval = value("lsu.masked_interval")
        self._request_bytes = value("lsu.request_bandwidth")
        self._bytes_per_cycle = value("sm.shared_bandwidth")
        self._known: dict[tuple[Mix, float, bool, bool], ComputeCost] = {}

    def cost(self, mix: Mix, owed: float = 0.0, loose: bool = False, drifts: bool = False) -> ComputeCost:
        """The cost of ``mix`` for one warp, which takes ``owed`` issue slots besides and no time for them.

        ``loose``: the role's warps do not meet; ``drifts``: nor do they stay in step.
        """
        cost = self._known.get((mix, owed, loose, drifts))
        if cost is None:
            cost = self._cost(mix)
            if loose:
                cost = replace(cost, loose=True, greedy=cost.greedy or drifts)
            if owed and cost.all_slots:
                cost = replace(cost, setup_slots=cost.setup_slots + owed)
            self._known[mix, owed, loose, drifts] = cost
        return cost

    def _cost(self, mix: Mix) -> ComputeCost:
        load = (mix.lds_wavefronts * self._wavefronts(_WORD) or self._wavefronts(mix.lds_bytes)) * mix.bank_conflict
        store = self._wavefronts(mix.sts_bytes) * mix.bank_conflict
        batches = mix.lds / max(mix.loads_in_flight, 1.0)
        special = mix.mufu * self._mufu_interval
        conflicts, held = mix.register_conflicts * self._dispatch_stall, mix.pipe_stalls * self._dispatch_stall
        around = mix.setup / ((mix.setup + mix.other + mix.interleaved) or 1.0)
        ffma = mix.ffma * self._ffma_slots + conflicts + held * (1.0 - around)
        arithmetic = (
            max(ffma, mix.ffma * self._ffma_latency / max(mix.ilp, 1.0))
            + mix.interleaved
            + mix.masked
            + mix.other * self._control_latency
        )
        setup = mix.setup * self._setup_latency + held * around
        # Instructions of a chain are further apart than their slots.
        issued = ffma + mix.interleaved + mix.masked + mix.other
        apart, mufu_wait = max(arithmetic / max(issued, 1.0), 1.0), special
        if mix.alone and arithmetic + setup:
            # Known better than from numbers of instructions; which part is the loop's they say.
            issued += mix.mufu + mix.setup + held * around
            known = max(mix.alone + conflicts - mix.lds - mix.sts, issued)
            part, apart, mufu_wait = known / (arithmetic + setup), known / issued, 0.0
            arithmetic, setup = arithmetic * part, setup * part
        hidden = mix.load_to_use * apart
        stall = batches * max(self._lds_latency + self._lds_latency_more * (load - 1.0) - hidden, 0.0)
        # Constants are asked for together, at the beginning.
        stall += self._ldc_latency if mix.ldc else 0.0
        # Further loads of a batch are issued while the first ones are worked on.
        more_loads = (mix.lds - batches) * max(self._lds_interval, self._lds_interval_more * load)
        away = self._lds_latency + self._lds_latency_more * (load - 1.0) - load - hidden
        if mix.lds:
            last = max(load, self._load_requests(mix))
            burst = last * mix.lds / batches
            gaps = max(more_loads / batches - (burst - last), 0.0)
        else:
            last = max(store, self._requests(mix.sts_bytes)) if mix.sts else 0.0
            burst, gaps = last * mix.sts, 0.0
        stores = mix.sts * (self._sts_interval + self._sts_interval_more * (store - 1.0))
        alone = stall + max(arithmetic, more_loads) + mufu_wait + stores
        slots = max(ffma + mix.mufu, special) + mix.other + mix.interleaved + mix.masked + mix.lds + mix.sts
        constants = mix.ldc * self._ldc_interval
        return ComputeCost(
            slots=slots,
            alone=alone,
            stall=stall,
            setup_slots=mix.setup + held * around,
            setup_alone=setup,
            data=mix.lds * load + mix.sts * store,
            requests=mix.lds * self._load_requests(mix)
            + mix.sts * self._requests(mix.sts_bytes)
            + mix.masked * self._masked_interval,
            constants=constants,
            pipe=mix.half_rate * HALF_RATE,
            most=min((slots + mix.setup) / (self._schedulers * constants), 1.0) if constants else 1.0,
            batches=batches,
            ahead=mix.load_to_use if mix.lds else 0.0,
            greedy=mix.ilp > FEW_CHAINS,
            burst=burst,
            last=last,
            gaps=gaps,
            held=held,
            schedulers=self._schedulers,
            away=away + (self._ldc_latency / batches if mix.ldc and batches else 0.0),
        )

    def memory_cost(
        self,
        count: float,
        other: float,
        masked: float,
        passes: Passes,
        width: int,
        issue: MemoryIssue,
        loose: bool = False,
    ) -> ComputeCost:
        """``count`` global-memory instructions of ``width`` bytes per lane, ``other`` and ``masked`` around them."""
        bytes_of_one = WARP_SIZE * width
        found = max(passes.held * self._tag_interval, passes.wavefronts * LINE_BYTES / self._bytes_per_cycle)
        lines = bytes_of_one * (passes.missed * self._line_interval + found)
        request = issue.request or max(self._wavefronts(width), lines)
        data = count * self._wavefronts(width) * issue.data
        requests = count * request + masked * self._masked_interval
        burst = max(data, requests)
        last = burst / (count + masked) if burst else 0.0
        return ComputeCost(
            slots=count + masked,
            alone=count * issue.interval + masked,
            stall=0.0,
            setup_slots=other,
            setup_alone=other * self._setup_latency,
            data=data,
            requests=requests,
            burst=burst,
            last=last,
            gaps=max((count - 1.0) * issue.interval - (burst - last), 0.0),
            loose=loose,
        )

    def _wavefronts(self, width: int) -> float:
        return WARP_SIZE * width / self._bytes_per_cycle

    def _load_requests(self, mix: Mix) -> float:
        """Of which some are wider than ``lds_bytes`` says if they pass more often."""
        return max(self._requests(mix.lds_bytes), min(mix.lds_wavefronts, self._requests(_WIDEST)))

    def _requests(self, width: int) -> float:
        return max(WARP_SIZE * width / self._request_bytes, self._line_interval)
