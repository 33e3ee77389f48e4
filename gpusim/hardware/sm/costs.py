"""Issue costs and latencies of single instructions, read once from a profile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gpusim.hardware.memory.access import Passes
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import Mix

__all__ = ["InstructionCosts", "MemoryBatch", "MemoryIssue", "known_mix"]

known_mix = lru_cache(maxsize=1024)(Mix)
"""A mix that is made once for all warps and tiles, as making one takes longer than simulating it."""


class MemoryIssue(NamedTuple):
    """What a global-memory instruction takes of its SM, in cycles."""

    interval: float
    """Cycles between two instructions of a warp that is alone."""
    data: float
    """Cycles of the path of shared memory and L1, per 128 bytes."""
    request: float = 0.0
    """Cycles of the load-store unit; 0 stands for the time of its lines."""


class MemoryBatch(NamedTuple):
    """Global-memory instructions that a warp issues one after the other. A tuple, as costs are looked up by it."""

    count: float
    """Instructions that access memory."""
    other: float
    """Instructions around them, which wait for each other."""
    masked: float
    """Accesses that no lane executes."""
    passes: Passes
    """What an access touches per byte."""
    width: int
    """Bytes per lane."""
    issue: MemoryIssue
    """What one of them takes of the SM."""


@dataclass(frozen=True, slots=True)
class InstructionCosts:
    """What instructions take of a warp and of its SM: seconds (``_s``) or issue slots of a scheduler (``_slots``).

    Issue slots of the copy unit's instructions are a chain: each waits for the one before.
    """

    ldg: MemoryIssue
    """A load from global memory into registers, or a store."""
    cp_async: MemoryIssue
    """A copy from global to shared memory by threads."""
    commit_s: float
    """Time of the SM's unit that ends groups of cp.async, per warp."""
    l1_latency_s: float
    """Time from a load of what L1 holds until the data are there."""
    tma_submit_slots: float
    """Instructions until the copy unit has a bulk request."""
    tma_issue_slots: float
    """All instructions of a bulk load, the first of a stage."""
    tma_issue_again_slots: float
    """All instructions of a further bulk load of the same stage."""
    tma_issue_elected_slots: float
    """All instructions of one of the bulk loads that the lanes of a warp issue together."""
    tma_store_issue_slots: float
    """All instructions of a bulk store."""
    tma_store_latency_s: float
    """Time until the source of a bulk store is read, beyond that of its bytes."""
    mbarrier_poll_s: float
    """Time of a look at an mbarrier whose phase is complete already."""
    mbarrier_wake_s: float
    """Time from the completion of a phase until a warp that waits for it goes on."""
    mbarrier_arrive_s: float
    """Time from an arrival, when the unit for mbarriers has taken it, until it counts."""
    mbarrier_per_warp_s: float
    """Time that each warp which uses an mbarrier adds to a wait there."""
    mbarrier_wait_interval_s: float
    """Time of the SM's unit for mbarriers, per wait of a warp."""
    mbarrier_wait_issue_slots: float
    """Issue slots of a look at an mbarrier and the branch behind it."""
    mbarrier_arrive_interval_s: float
    """Time of the SM's unit for mbarriers, per arrival of a warp."""
    mbarrier_arrive_issue_s: float
    """Time for which a warp that arrives at an mbarrier is busy."""
    sync_issue_slots: float
    """Issue slots to arrive at a barrier, to meet other warps there, or to wait for a group of copies."""
    time_stamp_slots: float
    """Issue slots of a time stamp."""
    time_stamp_s: float
    """Until a warp goes on behind one, if nobody is in its way, less these slots."""
    sync_base_s: float
    """Time that a barrier of warps takes when the last one has come."""
    sync_arrive_s: float
    """Time that the SM's unit for barriers of warps takes for each that comes."""
    sync_release_s: float
    """Time that it takes for each that it lets go, when all are there."""
    sync_named_extra_s: float
    """Time that a named barrier takes beyond ``sync_base_s``."""
    cluster_arrive_s: float
    """How much later an arrival counts in another CTA of the cluster."""
    cluster_arrive_interval_s: float
    """Time between two arrivals in other CTAs, of an SM."""
    cluster_sync_s: float
    """Time of a barrier of the cluster from the arrival of its last warp."""
    cluster_load: MemoryIssue
    """A load from shared memory of another CTA of the cluster."""
    cluster_load_s_per_byte: float
    """Time for which a byte of it takes the way between the SMs."""
    cluster_load_latency_s: float
    """Time from then until it is there."""
    cluster_store: MemoryIssue
    """A store to shared memory of another CTA of the cluster."""
    cluster_store_s_per_byte: float
    """As of a load."""
    cluster_store_latency_s: float
    """Time from then until a barrier of the cluster no longer waits for it."""
    wgmma_issue_slots: float
    """Instructions until the next wgmma of a group can be issued."""
    wgmma_latency_s: float
    """Time from the end of a group of wgmma on the tensor cores until a warp that waits for it goes on."""
    set_max_nreg_s: float
    """Time of setmaxnreg."""

    @staticmethod
    def of(profile: DeviceProfile) -> InstructionCosts:
        """The costs on a device."""
        value, seconds = profile.value, profile.seconds_of
        setup_latency = value("sm.setup_latency")

        def slots(key: str) -> float:
            """How many instructions that wait for each other take as long as the quantity ``key``."""
            return value(key) / setup_latency

        return InstructionCosts(
            ldg=MemoryIssue(value("lsu.ldg_interval"), value("lsu.ldg_data_interval")),
            cp_async=MemoryIssue(
                value("lsu.cp_async_interval"),
                value("lsu.cp_async_data_interval"),
                value("lsu.cp_async_request_interval"),
            ),
            commit_s=seconds("lsu.commit_interval"),
            l1_latency_s=seconds("lsu.ldg_l1_latency"),
            tma_submit_slots=slots("tma.submit"),
            tma_issue_slots=slots("tma.issue"),
            tma_issue_again_slots=slots("tma.issue_again"),
            tma_issue_elected_slots=slots("tma.issue_elected"),
            tma_store_issue_slots=slots("tma.store_issue"),
            tma_store_latency_s=seconds("tma.store_latency"),
            mbarrier_poll_s=seconds("mbarrier.poll"),
            mbarrier_wake_s=seconds("mbarrier.wake"),
            mbarrier_arrive_s=seconds("mbarrier.arrive_latency"),
            mbarrier_per_warp_s=seconds("mbarrier.per_warp"),
            mbarrier_wait_interval_s=seconds("mbarrier.wait_interval"),
            mbarrier_wait_issue_slots=value("mbarrier.wait_issue"),
            mbarrier_arrive_interval_s=seconds("mbarrier.arrive_interval"),
            mbarrier_arrive_issue_s=seconds("mbarrier.arrive_issue"),
            sync_issue_slots=value("barrier.issue"),
            time_stamp_slots=value("probe.stamp"),
            time_stamp_s=max(value("probe.stamp_alone") - value("probe.stamp"), 0.0) / profile.clock_hz,
            sync_base_s=seconds("barrier.base"),
            sync_arrive_s=seconds("barrier.arrive_per_warp"),
            sync_release_s=seconds("barrier.release_per_warp"),
            sync_named_extra_s=seconds("barrier.named_extra"),
            cluster_arrive_s=seconds("cluster.arrive_latency"),
            cluster_arrive_interval_s=seconds("cluster.arrive_interval"),
            cluster_sync_s=seconds("cluster.sync"),
            cluster_load=MemoryIssue(value("lsu.ldg_interval"), value("cluster.load_data_interval")),
            cluster_load_s_per_byte=1.0 / (value("cluster.load_bandwidth") * profile.clock_hz),
            cluster_load_latency_s=seconds("cluster.load_latency"),
            cluster_store=MemoryIssue(value("lsu.ldg_interval"), value("cluster.store_data_interval")),
            cluster_store_s_per_byte=1.0 / (value("cluster.store_bandwidth") * profile.clock_hz),
            cluster_store_latency_s=seconds("cluster.store_latency"),
            wgmma_issue_slots=slots("tensor.wgmma_issue"),
            wgmma_latency_s=seconds("tensor.wgmma_latency"),
            set_max_nreg_s=seconds("sm.setmaxnreg"),
        )
