"""Issue costs and latencies of single instructions, in seconds, read once from a profile."""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.hardware.profile import DeviceProfile

__all__ = ["InstructionCosts"]


@dataclass(frozen=True, slots=True)
class InstructionCosts:
    """Seconds, except ``ldg_issue`` and ``cp_async_issue``: pipe cycles per warp instruction."""

    ldg_issue: float
    cp_async_issue: float
    wait_group: float
    tma_issue: float
    mbarrier_poll: float
    mbarrier_wake: float
    mbarrier_arrive: float
    mbarrier_arrive_issue: float
    set_max_nreg: float
    _sync_base: float
    _sync_per_warp: float
    _warps: int

    @staticmethod
    def of(profile: DeviceProfile, warps: int) -> InstructionCosts:
        """The costs on a device for CTAs of ``warps`` warps."""
        cycles = profile.cycles
        return InstructionCosts(
            ldg_issue=profile.value("lsu.ldg_issue"),
            cp_async_issue=profile.value("lsu.cp_async_issue"),
            wait_group=cycles("lsu.wait_group"),
            tma_issue=cycles("tma.issue"),
            mbarrier_poll=cycles("mbarrier.poll"),
            mbarrier_wake=cycles("mbarrier.wake"),
            mbarrier_arrive=cycles("mbarrier.arrive_latency"),
            mbarrier_arrive_issue=cycles("mbarrier.arrive_issue"),
            set_max_nreg=cycles("sm.setmaxnreg"),
            _sync_base=cycles("barrier.base"),
            _sync_per_warp=cycles("barrier.per_warp"),
            _warps=warps,
        )

    @property
    def sync_threads(self) -> float:
        """``__syncthreads``: from the last warp's arrival to the release."""
        return self.named_barrier(self._warps)

    def named_barrier(self, warps: int) -> float:
        """``bar.sync`` of ``warps`` warps: from the last arrival to the release."""
        return self._sync_base + self._sync_per_warp * warps
