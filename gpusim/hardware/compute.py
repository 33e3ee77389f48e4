"""How long instructions take: one warp alone, and several on one scheduler.

Models: each scheduler issues one warp instruction a clock. A tile loop alternates between
  two phases: arithmetic, which a warp alone can issue as fast as its ILP allows, and the rest
  (loads from shared memory, addresses, loop control), where each instruction waits for the
  one before. Warps that share a scheduler started together and go through the phases in step, so a
  phase lasts as long as its latency for one warp or its issue slots for all of them, whichever
  is longer. ld.shared and st.shared occupy the SM's 128 B-a-clock pipe.
Omits: register-bank conflicts at low ILP, instruction-cache misses, warps drifting out of step.
Source: realkernels.microbench (issue, lds, lds_ffma).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.engine import Flow
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import Mix

__all__ = ["ComputeCost", "ComputeModel", "Phases", "efficiency"]

WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class Phases:
    """The two phases of one warp's instructions, in cycles: issue slots, and time when alone."""

    arithmetic_slots: float
    arithmetic_alone: float
    other_slots: float
    other_alone: float


@dataclass(frozen=True, slots=True)
class ComputeCost:
    """One warp's instructions: ``phases``, and cycles of the SM-wide pipe they need."""

    phases: Phases
    pipe_cycles: float

    @property
    def slots(self) -> float:
        """Issue slots in all."""
        return self.phases.arithmetic_slots + self.phases.other_slots

    @property
    def alone_cycles(self) -> float:
        """Elapsed cycles when no other warp is there."""
        alone = self.phases.arithmetic_alone + self.phases.other_alone
        return max(alone, self.slots, self.pipe_cycles)


class ComputeModel:
    """Costs of instructions on one device; those of a `Mix` are remembered."""

    def __init__(self, profile: DeviceProfile) -> None:
        value = profile.value
        self._ffma_slots = 1.0 / value("sm.ffma_issue_rate")
        self._ffma_latency = value("sm.ffma_latency")
        self._control_latency = value("sm.control_latency")
        self._lds_latency = value("sm.lds_latency")
        self._lds_latency_more = value("sm.lds_latency_per_extra_wavefront")
        self._lds_interval = value("sm.lds_interval")
        self._lds_interval_more = value("sm.lds_interval_per_extra_wavefront")
        self._sts_interval = value("sm.sts_interval")
        self._sts_interval_more = value("sm.sts_interval_per_extra_wavefront")
        self._mufu_interval = value("sm.mufu_issue_interval")
        self._bytes_per_cycle = value("sm.shared_bandwidth")
        self._known: dict[Mix, ComputeCost] = {}

    def cost(self, mix: Mix) -> ComputeCost:
        """The cost of ``mix`` for one warp."""
        cost = self._known.get(mix)
        if cost is None:
            cost = self._known[mix] = self._cost(mix)
        return cost

    def _cost(self, mix: Mix) -> ComputeCost:
        fp32 = mix.ffma * self._ffma_slots
        load = self._wavefronts(mix.lds_bytes) * mix.bank_conflict
        store = self._wavefronts(mix.sts_bytes) * mix.bank_conflict
        batches = mix.lds / max(mix.loads_in_flight, 1.0)
        latency = self._lds_latency + self._lds_latency_more * (load - 1.0)
        special = mix.mufu * self._mufu_interval
        phases = Phases(
            arithmetic_slots=max(fp32 + mix.mufu, special),
            arithmetic_alone=mix.ffma * max(self._ffma_slots, self._ffma_latency / max(mix.ilp, 1.0)) + special,
            other_slots=mix.other + mix.lds + mix.sts,
            other_alone=mix.other * self._control_latency
            + batches * latency
            + (mix.lds - batches) * (self._lds_interval + self._lds_interval_more * (load - 1.0))
            + mix.sts * (self._sts_interval + self._sts_interval_more * (store - 1.0)),
        )
        return ComputeCost(phases, mix.lds * load + mix.sts * store)

    def memory_cost(self, count: float, other: float, width: int, interval: float) -> ComputeCost:
        """``count`` global-memory instructions of ``width`` bytes per lane and ``other`` around them.

        ``interval``: cycles between two of one warp when it is alone.
        """
        phases = Phases(0.0, 0.0, count + other, count * interval + other * self._control_latency)
        return ComputeCost(phases, count * self._wavefronts(width))

    def _wavefronts(self, width: int) -> float:
        return WARP_SIZE * width / self._bytes_per_cycle


def efficiency(flows: list[Flow]) -> float:
    """The part of a scheduler's issue slots that ``flows`` can use together.

    Each flow is tagged with its warps on the scheduler and its `ComputeCost`. One round gives
    every warp one slot's worth of progress; it lasts as long as its two phases.
    """
    warps = arithmetic = arithmetic_alone = other = other_alone = 0.0
    for flow in flows:
        count, cost = flow.tag
        phases, share = cost.phases, count / cost.slots
        warps += count
        arithmetic += share * phases.arithmetic_slots
        arithmetic_alone += share * phases.arithmetic_alone
        other += share * phases.other_slots
        other_alone += share * phases.other_alone
    if warps < 2:
        return 1.0
    round_cycles = max(arithmetic, arithmetic_alone / warps) + max(other, other_alone / warps)
    return warps / max(round_cycles, warps)
