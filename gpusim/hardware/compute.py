"""How long instructions take: one warp alone, and several on one scheduler.

Models: each scheduler issues one warp instruction a clock; a warp that loops over shared-memory
  loads and dependent FMAs alternates between stalls (the load's latency) and issue phases, the
  latter bounded by its ILP. Other warps of the same scheduler fill the gaps, but not all: warps
  that started together stay in step, so part of the load's latency is exposed in every turn of
  the loop however many they are. ld.shared and st.shared occupy the SM's 128 B-a-clock pipe.
Omits: register-bank conflicts at low ILP, instruction-cache misses.
Source: realkernels.microbench (issue, lds, lds_ffma).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.engine import Flow
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import Mix

__all__ = ["ComputeCost", "ComputeModel", "Phase"]

WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class Phase:
    """How a flow of instructions alternates: ``warps`` per scheduler, slots between stalls, cycles of a stall."""

    warps: int
    slots: float
    stall: float


@dataclass(frozen=True, slots=True)
class ComputeCost:
    """One warp's instructions.

    ``slots``: issue slots; ``alone_cycles``: elapsed when no other warp is there;
    ``pipe_cycles``: cycles of the SM-wide pipe they need; ``turn_slots``/``stall_cycles``: slots
    between two stalls, and the length of a stall.
    """

    slots: float
    alone_cycles: float
    pipe_cycles: float
    turn_slots: float
    stall_cycles: float


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
        self._integer_interval = value("sm.integer_issue_interval")
        self._bytes_per_cycle = value("sm.shared_bandwidth")
        self._lockstep = value("sm.lockstep_stall")
        self._known: dict[Mix, ComputeCost] = {}

    def cost(self, mix: Mix) -> ComputeCost:
        """The cost of ``mix`` for one warp."""
        cost = self._known.get(mix)
        if cost is None:
            cost = self._known[mix] = self._cost(mix)
        return cost

    def _cost(self, mix: Mix) -> ComputeCost:
        fp32 = mix.ffma * self._ffma_slots
        slots = fp32 + mix.other + mix.lds + mix.sts + mix.mufu
        # Integer instructions use their pipe for longer than the issue slot.
        slots = max(slots, mix.other * self._integer_interval, mix.mufu * self._mufu_interval)
        load = self._wavefronts(mix.lds_bytes) * mix.bank_conflict
        store = self._wavefronts(mix.sts_bytes) * mix.bank_conflict
        batches = mix.lds / max(mix.loads_in_flight, 1.0)
        latency = self._lds_latency + self._lds_latency_more * (load - 1.0)
        alone = (
            mix.ffma * max(self._ffma_slots, self._ffma_latency / max(mix.ilp, 1.0))
            + mix.other * self._control_latency
            + mix.mufu * self._mufu_interval
            + batches * latency
            + (mix.lds - batches) * (self._lds_interval + self._lds_interval_more * (load - 1.0))
            + mix.sts * (self._sts_interval + self._sts_interval_more * (store - 1.0))
        )
        pipe = mix.lds * load + mix.sts * store
        return ComputeCost(
            slots, max(alone, slots, pipe), pipe, slots / batches if batches else slots, latency if batches else 0.0
        )

    def memory_cost(self, count: float, other: float, width: int, interval: float) -> ComputeCost:
        """``count`` global-memory instructions of ``width`` bytes per lane and ``other`` around them.

        ``interval``: cycles between two of one warp when it is alone.
        """
        slots = count + other
        pipe = count * self._wavefronts(width)
        alone = count * interval + other * self._control_latency
        return ComputeCost(slots, max(alone, slots, pipe), pipe, slots, 0.0)

    def _wavefronts(self, width: int) -> float:
        return WARP_SIZE * width / self._bytes_per_cycle

    def efficiency(self, flows: list[Flow]) -> float:
        """The part of a scheduler's issue slots that the warps of ``flows`` (tagged `Phase`) can use."""
        warps = busy = stall = 0.0
        for flow in flows:
            phase = flow.tag
            slots = phase.warps * phase.slots
            warps += phase.warps
            busy += slots
            stall += slots * phase.stall
        if warps < 2 or not stall:
            return 1.0
        return busy / (busy + self._lockstep * stall / busy)
