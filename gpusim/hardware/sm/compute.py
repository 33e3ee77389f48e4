"""What instructions take of a warp and of its SM: those of a `Mix`, and those that access global memory.

Models: each scheduler issues one warp instruction a clock. A warp that loops over shared-memory
  loads and dependent FMAs stalls for the load's latency in every turn, issues its arithmetic
  as fast as its ILP allows, and waits for each instruction of the code around the loop. Lanes that part ways wait for
  each other where they meet again. While a pipe holds up a warp those that need another one can issue; special
  functions have a pipe of their own. Loads and stores of global memory occupy the path of shared memory and the
  load-store unit as well, which takes as long for an access that no lane executes. What accesses to shared memory take
  is a matter of `gpusim.hardware.sm.shared_memory`, how long several warps take of `gpusim.hardware.sm.compute_cost`.
Omits: which registers meet in a bank and which pipes are busy (the program says how many cycles that costs),
  instruction-cache misses.
Source: realkernels.microbench (issue, gather, pipes, masked, lds_ffma, parting, skeleton, short_ctas).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from gpusim.hardware.memory.access import LINE_BYTES
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.compute_cost import ComputeCost, rounds_of
from gpusim.hardware.sm.costs import MemoryBatch
from gpusim.hardware.sm.fragments import Fragments, runs_of, turn_cycles
from gpusim.hardware.sm.shared_memory import SharedCost, SharedMemoryModel
from gpusim.program import WARP_SIZE, Mix
from gpusim.program.mix import HALF_RATE

__all__ = ["FEW_CHAINS", "ComputeModel"]

FEW_CHAINS = 4.0
"""Independent FFMAs of a warp, as many as their latency has cycles, up to which warps share a scheduler evenly and stay
in step (`lds_ffma`); with sixteen each goes on until it stalls (`ahead`, `last_wave`)."""


class _Arithmetic(NamedTuple):
    """What a warp's instructions take, those of memory left aside."""

    ffma: float
    """Issue slots of FFMAs, with those that registers and pipes cost."""
    mma: float
    """Issue slots of products on the tensor core, with those that their operands keep from others."""
    special: float
    """Cycles of the unit for special functions."""
    loop: float
    """Cycles of the loop."""
    mufu_wait: float
    """Cycles that special functions add to the loop."""
    setup_slots: float
    """Issue slots of the code around the loop."""
    setup: float
    """Cycles of the code around the loop."""
    apart: float
    """Cycles from one instruction to the next."""
    held: float
    """Cycles of issue slots in which a pipe holds up only those who need it as well."""


class ComputeModel:
    """Costs of instructions on one device; those of a `Mix` are remembered."""

    def __init__(self, profile: DeviceProfile) -> None:
        value = profile.value
        self._ffma_slots = 1.0 / value("sm.ffma_issue_rate")
        self._ffma_latency = value("sm.ffma_latency")
        self._pause = max(self._ffma_latency - self._ffma_slots, 0.0)
        self._control_latency = value("sm.control_latency")
        self._setup_latency = value("sm.setup_latency")
        self._lds_interval = value("sm.lds_interval")
        self._mufu_interval = value("sm.mufu_issue_interval")
        self._mma_slots = value("tensor.mma_slots")
        self._mma_interval = value("tensor.mma_interval")
        self._mma_latency = value("tensor.mma_latency")
        self._dispatch_stall = value("sm.dispatch_stall")
        self._divergent_branch = value("sm.divergent_branch")
        self._divergent_syncwarp = value("sm.divergent_syncwarp")
        self._schedulers = value("sm.schedulers")
        self._ldc_interval = value("sm.ldc_interval")
        self._ldc_latency = value("sm.ldc_latency")
        self._line_interval = value("lsu.line_interval")
        self._tag_interval = value("lsu.tag_interval")
        self._masked_interval = value("lsu.masked_interval")
        self._bytes_per_cycle = value("sm.shared_bandwidth")
        self._shared = SharedMemoryModel(profile)
        self._known: dict[tuple[Mix, float, bool, bool, bool], ComputeCost] = {}

    def cost(
        self, mix: Mix, owed: float = 0.0, loose: bool = False, drifts: bool = False, together: bool = False
    ) -> ComputeCost:
        """The cost of ``mix`` for one warp, which takes ``owed`` issue slots besides and no time for them.

        ``loose``: the role's warps do not meet; ``drifts``: nor do they stay in step. ``together``: they have just met.
        """
        cost = self._known.get((mix, owed, loose, drifts, together))
        if cost is None:
            cost = self._cost(mix)
            if loose:
                cost = replace(cost, loose=True, greedy=cost.greedy or drifts)
            if together and cost.fragments:
                cost = replace(cost, fragments=cost.fragments._replace(meets=True))
            elif together and cost.batches:
                cost = replace(cost, stall_together=cost.stall / max(cost.batches, 1.0))
            if owed and cost.all_slots:
                cost = replace(cost, setup_slots=cost.setup_slots + owed)
            self._known[mix, owed, loose, drifts, together] = cost
        return cost

    def _cost(self, mix: Mix) -> ComputeCost:
        arithmetic = self._arithmetic(mix)
        shared = self._shared.cost(mix, arithmetic.apart)
        # Constants are asked for together, at the beginning, and are there before the first load from shared memory.
        stall = self._ldc_latency if mix.ldc and not shared.batches else shared.stall
        slots = arithmetic.ffma + arithmetic.mma + mix.mufu + mix.other + mix.interleaved
        slots += mix.masked + mix.lds + mix.sts + mix.atoms
        constants = mix.ldc * self._ldc_interval
        cost = ComputeCost(
            slots=slots,
            alone=stall + max(arithmetic.loop, shared.more_loads) + arithmetic.mufu_wait + shared.stores,
            stall=stall,
            setup_slots=arithmetic.setup_slots,
            setup_alone=arithmetic.setup,
            data=shared.data,
            requests=shared.requests + mix.masked * self._masked_interval,
            constants=constants,
            pipe=mix.half_rate * HALF_RATE,
            special=arithmetic.special,
            tensor=mix.mma * self._mma_interval,
            batches=shared.batches,
            accesses=shared.batches or (1.0 if mix.sts or mix.atoms else 0.0),
            ahead=mix.load_to_use if mix.lds else 0.0,
            greedy=mix.ilp > FEW_CHAINS,
            burst=shared.burst,
            last=shared.last,
            gaps=shared.gaps,
            held=arithmetic.held,
            pause=self._pause,
            schedulers=self._schedulers,
            away=shared.away,
        )
        if mix.mma and mix.lds:
            return self._with_fragments(mix, cost, arithmetic, shared)
        return replace(cost, rounds=rounds_of(mix, cost)) if mix.gaps else cost

    def _with_fragments(self, mix: Mix, cost: ComputeCost, arithmetic: _Arithmetic, shared: SharedCost) -> ComputeCost:
        """``cost`` of products whose fragments a warp loads, one instruction after the other."""
        runs, repeats = runs_of(mix)
        each = arithmetic.loop / mix.mma
        fragments = Fragments(
            runs=runs,
            repeats=repeats,
            latency=shared.latency,
            path=shared.last,
            interval=shared.interval,
            load=self._lds_interval,
            product=each if each > self._mma_interval else 1.0,
            core=self._mma_interval,
            slots=(cost.slots - mix.lds) / mix.mma,
            around=arithmetic.setup + arithmetic.mufu_wait + shared.stores,
        )
        alone = turn_cycles(fragments, 1, 1, 1)
        stall = max(alone - arithmetic.loop - fragments.around, 0.0)
        return replace(cost, alone=alone - arithmetic.setup, stall=stall, fragments=fragments)

    def _arithmetic(self, mix: Mix) -> _Arithmetic:
        special = mix.mufu * self._mufu_interval
        conflicts, held = mix.register_conflicts * self._dispatch_stall, mix.pipe_stalls * self._dispatch_stall
        around = mix.setup / ((mix.setup + mix.other + mix.interleaved) or 1.0)
        ffma = mix.ffma * self._ffma_slots + conflicts + held * (1.0 - around)
        mma = mix.mma * self._mma_slots
        products = mix.mma * max(self._mma_interval, self._mma_latency / max(mix.mma_ilp, 1.0))
        # What stands between products is issued while they are under way.
        beside = max(ffma, mix.ffma * self._ffma_latency / max(mix.ilp, 1.0)) + mix.interleaved + mix.masked
        loop = max(mma + beside, products) + mix.other * self._control_latency
        setup = mix.setup * self._setup_latency + held * around
        # Instructions of a chain are further apart than their slots, and a product takes several of these.
        issued = ffma + mma + mix.interleaved + mix.masked + mix.other
        number = issued - mma + mix.mma
        apart, mufu_wait = max(loop / max(number, 1.0), 1.0), special
        if mix.alone and loop + setup:
            # Known better than from numbers of instructions; which part is the loop's they say.
            more = mix.mufu + mix.setup + held * around
            accesses = mix.lds + mix.sts + mix.atoms * self._shared.atomic_interval(mix)
            known = max(mix.alone + conflicts - accesses, issued + more)
            part, apart, mufu_wait = known / (loop + setup), known / (number + more), 0.0
            loop, setup = loop * part, setup * part
        setup += mix.divergent_branches * self._divergent_branch + mix.divergent_syncwarps * self._divergent_syncwarp
        return _Arithmetic(ffma, mma, special, loop, mufu_wait, mix.setup + held * around, setup, apart, held)

    def memory_cost(self, batch: MemoryBatch, loose: bool = False) -> ComputeCost:
        """The cost of ``batch`` for one warp; ``loose``: the role's warps do not meet."""
        count, masked, passes, issue = batch.count, batch.masked, batch.passes, batch.issue
        found = max(passes.held * self._tag_interval, passes.wavefronts * LINE_BYTES / self._bytes_per_cycle)
        lines = WARP_SIZE * batch.width * (passes.missed * self._line_interval + found)
        wavefronts = self._shared.wavefronts(batch.width)
        request = max(issue.request, wavefronts, lines)
        data = count * wavefronts * issue.data
        requests = count * request + masked * self._masked_interval
        burst = max(data, requests)
        last = burst / (count + masked) if burst else 0.0
        return ComputeCost(
            slots=count + masked,
            alone=count * issue.interval + masked,
            stall=0.0,
            setup_slots=batch.other,
            setup_alone=batch.other * self._setup_latency,
            data=data,
            requests=requests,
            burst=burst,
            last=last,
            gaps=max((count - 1.0) * issue.interval - (burst - last), 0.0),
            pause=self._pause,
            loose=loose,
        )
