"""How long instructions take: one warp alone, and several on one scheduler.

Models: each scheduler issues one warp instruction a clock (FP32 at a slightly lower
  measured rate); a warp that loops over shared-memory loads and dependent FMAs alternates
  between stalls (the load's latency) and issue phases, the latter bounded by its ILP; other warps of
  the same scheduler fill the stalls; ld.shared/st.shared occupy the SM's 128 B-a-clock pipe.
Omits: register-bank conflicts, instruction-cache misses, dual-issue of uniform instructions.
Source: realkernels.microbench (issue, lds, lds_ffma).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.hardware.profile import DeviceProfile
from gpusim.program import Mix

__all__ = ["ComputeCost", "ComputeModel"]


@dataclass(frozen=True, slots=True)
class ComputeCost:
    """One warp's instructions: issue slots, cycles when alone, cycles of the shared-memory pipe."""

    slots: float
    alone_cycles: float
    shared_cycles: float


class ComputeModel:
    """Costs of `Mix`es on one device, remembered per mix."""

    def __init__(self, profile: DeviceProfile) -> None:
        value = profile.value
        self._ffma_slots = 1.0 / value("sm.ffma_issue_rate")
        self._ffma_latency = value("sm.ffma_latency")
        self._lds_latency = value("sm.lds_latency")
        self._lds_wide = value("sm.lds_latency_per_extra_wavefront")
        self._mufu_slots = value("sm.mufu_issue_interval")
        self._bytes_per_cycle = value("sm.shared_bandwidth")
        self._known: dict[Mix, ComputeCost] = {}

    def cost(self, mix: Mix) -> ComputeCost:
        """The cost of ``mix`` for one warp."""
        cost = self._known.get(mix)
        if cost is None:
            cost = self._known[mix] = self._cost(mix)
        return cost

    def _cost(self, mix: Mix) -> ComputeCost:
        slots = mix.ffma * self._ffma_slots + mix.other + mix.lds + mix.sts + mix.mufu
        wavefronts = 32 * mix.lds_bytes / self._bytes_per_cycle * mix.bank_conflict
        shared = mix.lds * wavefronts
        shared += mix.sts * 32 * mix.sts_bytes / self._bytes_per_cycle * mix.bank_conflict
        chain = mix.ffma * max(self._ffma_slots, self._ffma_latency / max(mix.ilp, 1.0))
        mufu = mix.mufu * self._mufu_slots
        stall = 0.0
        if mix.lds > 0:
            batches = mix.lds / max(mix.loads_in_flight, 1.0)
            latency = self._lds_latency + self._lds_wide * (wavefronts - 1)
            stall = batches * latency + (mix.lds - batches) * wavefronts
        # Address and loop instructions are issued while the load is under way.
        hidden = max(stall, mix.other + mix.lds)
        alone = hidden + chain + mufu + mix.sts
        return ComputeCost(slots, max(alone, slots, shared), shared)
