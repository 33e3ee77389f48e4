"""What instructions take of a warp and of its SM: those of a `Mix`, and those that access global memory.

Models: each scheduler issues one warp instruction a clock. A warp that loops over shared-memory
  loads and dependent FMAs stalls for the load's latency in every turn, issues its arithmetic
  as fast as its ILP allows, and waits for each instruction of the code around the loop. Lanes that part ways wait for
  each other where they meet again. While a pipe holds up a warp those that need another one can issue; special
  functions have a pipe of their own. ld.shared and st.shared occupy the
  SM's 128 B-a-clock data path, and so do loads and stores of global memory; the load-store unit takes 16 lanes of up to
  16 bytes a clock, and as long for an access that no lane executes. How long several warps take is a matter of
  `gpusim.hardware.sm.compute_cost`.
Omits: which registers meet in a bank and which pipes are busy (the program says how many cycles that costs),
  instruction-cache misses.
Source: realkernels.microbench (issue, lds, gather, pipes, masked, lds_ffma, parting, skeleton, short_ctas).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from gpusim.hardware.memory.access import LINE_BYTES, WIDEST
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.compute_cost import ComputeCost, rounds_of
from gpusim.hardware.sm.costs import MemoryBatch
from gpusim.hardware.sm.fragments import Fragments, runs_of, turn_cycles
from gpusim.program import WARP_SIZE, Mix
from gpusim.program.mix import HALF_RATE

__all__ = ["FEW_CHAINS", "ComputeModel"]

FEW_CHAINS = 4.0
"""Independent FFMAs of a warp, as many as their latency has cycles, up to which warps share a scheduler evenly and stay
in step (`lds_ffma`); with sixteen each goes on until it stalls (`ahead`, `last_wave`)."""
_WORD = 4
"""Bytes per lane of which a whole warp's are one wavefront."""


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


class _Shared(NamedTuple):
    """What a warp's loads from and stores to shared memory take; a batch is what it asks for at once."""

    data: float
    """Cycles of the SM's path of shared memory and L1."""
    requests: float
    """Cycles of the SM's load-store unit."""
    batches: float
    """Batches of loads, each of which waits for the one before."""
    stall: float
    """Cycles in which the warp waits for batches of loads."""
    more_loads: float
    """Cycles in which loads of a batch are issued while the first one is worked on."""
    stores: float
    """Cycles in which the warp issues stores."""
    latency: float
    """Cycles from a load to its use."""
    interval: float
    """Cycles from one load of a scheduler to its next one."""
    away: float
    """Cycles from when a batch of loads is served until the warp needs it."""
    burst: float
    """Cycles of the unit that serves a batch."""
    last: float
    """Cycles of the last instruction of a batch."""
    gaps: float
    """Cycles between the instructions of a batch that are free for other warps."""


class ComputeModel:
    """Costs of instructions on one device; those of a `Mix` are remembered."""

    def __init__(self, profile: DeviceProfile) -> None:
        value = profile.value
        self._ffma_slots = 1.0 / value("sm.ffma_issue_rate")
        self._ffma_latency = value("sm.ffma_latency")
        self._pause = max(self._ffma_latency - self._ffma_slots, 0.0)
        self._control_latency = value("sm.control_latency")
        self._setup_latency = value("sm.setup_latency")
        self._lds_latency = value("sm.lds_latency")
        self._lds_latency_more = value("sm.lds_latency_per_extra_wavefront")
        self._lds_interval = value("sm.lds_interval")
        self._lds_interval_more = value("sm.lds_interval_per_wavefront")
        self._sts_interval = value("sm.sts_interval")
        self._sts_interval_more = value("sm.sts_interval_per_extra_wavefront")
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
        self._request_bytes = value("lsu.request_bandwidth")
        self._bytes_per_cycle = value("sm.shared_bandwidth")
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
        shared = self._shared(mix, arithmetic.apart)
        # Constants are asked for together, at the beginning, and are there before the first load from shared memory.
        stall = self._ldc_latency if mix.ldc and not mix.lds else shared.stall
        slots = arithmetic.ffma + arithmetic.mma + mix.mufu + mix.other + mix.interleaved
        slots += mix.masked + mix.lds + mix.sts
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
            accesses=shared.batches or (1.0 if mix.sts else 0.0),
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

    def _with_fragments(self, mix: Mix, cost: ComputeCost, arithmetic: _Arithmetic, shared: _Shared) -> ComputeCost:
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
            known = max(mix.alone + conflicts - mix.lds - mix.sts, issued + more)
            part, apart, mufu_wait = known / (loop + setup), known / (number + more), 0.0
            loop, setup = loop * part, setup * part
        setup += mix.divergent_branches * self._divergent_branch + mix.divergent_syncwarps * self._divergent_syncwarp
        return _Arithmetic(ffma, mma, special, loop, mufu_wait, mix.setup + held * around, setup, apart, held)

    def _shared(self, mix: Mix, apart: float) -> _Shared:
        """What ``mix`` takes of shared memory, where one instruction of the warp is ``apart`` cycles from the next."""
        load = (mix.lds_wavefronts * self._wavefronts(_WORD) or self._wavefronts(mix.lds_bytes)) * mix.bank_conflict
        store = (mix.sts_wavefronts * self._wavefronts(_WORD) or self._wavefronts(mix.sts_bytes)) * mix.bank_conflict
        load_requests, store_requests = self._load_requests(mix), self._requests(mix.sts_bytes)
        batches = mix.lds / max(mix.loads_in_flight, 1.0)
        latency = self._lds_latency + self._lds_latency_more * (load - 1.0)
        hidden = mix.load_to_use * apart
        # Further loads of a batch are issued while the first ones are worked on.
        more_loads = (mix.lds - batches) * max(self._lds_interval, self._lds_interval_more * load)
        if mix.lds:
            last = max(load, load_requests)
            burst = last * mix.lds / batches
            gaps = max(more_loads / batches - (burst - last), 0.0)
        else:
            last = max(store, store_requests) if mix.sts else 0.0
            burst, gaps = last * mix.sts, 0.0
        return _Shared(
            data=mix.lds * load + mix.sts * store,
            requests=mix.lds * load_requests + mix.sts * store_requests,
            batches=batches,
            stall=batches * max(latency - hidden, 0.0),
            more_loads=more_loads,
            stores=mix.sts * (self._sts_interval + self._sts_interval_more * (store - 1.0)),
            latency=latency,
            interval=max(self._lds_interval, self._lds_interval_more * load),
            away=latency - load - hidden,
            burst=burst,
            last=last,
            gaps=gaps,
        )

    def memory_cost(self, batch: MemoryBatch, loose: bool = False) -> ComputeCost:
        """The cost of ``batch`` for one warp; ``loose``: the role's warps do not meet."""
        count, masked, passes, issue = batch.count, batch.masked, batch.passes, batch.issue
        found = max(passes.held * self._tag_interval, passes.wavefronts * LINE_BYTES / self._bytes_per_cycle)
        lines = WARP_SIZE * batch.width * (passes.missed * self._line_interval + found)
        wavefronts = self._wavefronts(batch.width)
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

    def _wavefronts(self, width: int) -> float:
        """Turns of the path of shared memory for an access of ``width`` bytes per lane without conflicts."""
        return WARP_SIZE * width / self._bytes_per_cycle

    def _load_requests(self, mix: Mix) -> float:
        """Cycles of the load-store unit for a load; some are wider than ``lds_bytes`` says if they pass more often."""
        return max(self._requests(mix.lds_bytes), min(mix.lds_wavefronts, self._requests(WIDEST)))

    def _requests(self, width: int) -> float:
        """Cycles of the load-store unit for an access of ``width`` bytes per lane."""
        return max(WARP_SIZE * width / self._request_bytes, self._line_interval)
