"""Issue costs and latencies of single instructions, in seconds, read once from a profile."""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.hardware.profile import DeviceProfile

__all__ = ["InstructionCosts", "MemoryIssue"]


@dataclass(frozen=True, slots=True)
class MemoryIssue:
    """What a global-memory instruction takes of its SM, in cycles.

    ``interval``: between two of a warp that is alone. ``data``: of the path of shared memory and L1, per 128 bytes.
    ``request``: of the load-store unit; 0 stands for the time of its lines.
    """

    interval: float
    data: float
    request: float = 0.0


@dataclass(frozen=True, slots=True)
class InstructionCosts:
    """Seconds, except those of loads and stores by threads.

    ``sync_issue``: issue slots of an instruction that arrives at a barrier, meets other warps there or waits for a
    group of copies; ``mbarrier_wait_issue``: of a look at an mbarrier and the branch behind it.
    ``time_stamp``: issue slots of a stamp.
    ``tma_submit``, ``tma_issue``, ``tma_issue_again``, ``tma_issue_elected``, ``tma_store_issue``: instructions that
    wait for each other, until the copy unit has a request, and in all for a load, a further one of the same stage, one
    of those that the lanes of a warp issue together, and a store.
    ``tma_store_latency``: until the source is read, beyond its bytes.
    ``sync_arrive``, ``sync_release``: of each warp at a barrier of warps, when it comes and when all are let go.
    """

    ldg: MemoryIssue
    cp_async: MemoryIssue
    commit: float
    l1_latency: float
    tma_submit: float
    tma_issue: float
    tma_issue_again: float
    tma_issue_elected: float
    tma_store_issue: float
    tma_store_latency: float
    mbarrier_poll: float
    mbarrier_wake: float
    mbarrier_arrive: float
    mbarrier_per_warp: float
    mbarrier_wait_interval: float
    mbarrier_wait_issue: float
    mbarrier_arrive_interval: float
    mbarrier_arrive_issue: float
    sync_issue: float
    time_stamp: float
    sync_base: float
    sync_arrive: float
    sync_release: float
    sync_named_extra: float
    set_max_nreg: float

    @staticmethod
    def of(profile: DeviceProfile) -> InstructionCosts:
        """The costs on a device."""
        cycles = profile.cycles
        return InstructionCosts(
            ldg=MemoryIssue(profile.value("lsu.ldg_interval"), profile.value("lsu.ldg_data_interval")),
            cp_async=MemoryIssue(
                profile.value("lsu.cp_async_interval"),
                profile.value("lsu.cp_async_data_interval"),
                profile.value("lsu.cp_async_request_interval"),
            ),
            commit=cycles("lsu.commit_interval"),
            l1_latency=cycles("lsu.ldg_l1_latency"),
            tma_submit=profile.value("tma.submit") / profile.value("sm.setup_latency"),
            tma_issue=profile.value("tma.issue") / profile.value("sm.setup_latency"),
            tma_issue_again=profile.value("tma.issue_again") / profile.value("sm.setup_latency"),
            tma_issue_elected=profile.value("tma.issue_elected") / profile.value("sm.setup_latency"),
            tma_store_issue=profile.value("tma.store_issue") / profile.value("sm.setup_latency"),
            tma_store_latency=cycles("tma.store_latency"),
            mbarrier_poll=cycles("mbarrier.poll"),
            mbarrier_wake=cycles("mbarrier.wake"),
            mbarrier_arrive=cycles("mbarrier.arrive_latency"),
            mbarrier_per_warp=cycles("mbarrier.per_warp"),
            mbarrier_wait_interval=cycles("mbarrier.wait_interval"),
            mbarrier_arrive_interval=cycles("mbarrier.arrive_interval"),
            mbarrier_arrive_issue=cycles("mbarrier.arrive_issue"),
            sync_issue=profile.value("barrier.issue"),
            mbarrier_wait_issue=profile.value("mbarrier.wait_issue"),
            time_stamp=profile.value("probe.stamp"),
            sync_base=cycles("barrier.base"),
            sync_arrive=cycles("barrier.arrive_per_warp"),
            sync_release=cycles("barrier.release_per_warp"),
            sync_named_extra=cycles("barrier.named_extra"),
            set_max_nreg=cycles("sm.setmaxnreg"),
        )
