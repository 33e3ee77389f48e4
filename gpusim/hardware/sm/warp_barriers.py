"""Barriers of a group of warps: mbarriers, those of ring stages among them, and barriers at which warps meet.

Models: issue slots of each operation; the SM's one unit for mbarriers, which takes one warp's arrival or wait after
  another; how long an arrival takes to count and a waiting warp to wake; one unit for barriers of warps of all CTAs,
  which takes one arrival after another and lets one warp after another go, but for arithmetic, which goes on.
Omits: the order in which warps come to and leave a barrier; that CTAs of a cluster are not quite as far, and that a
  barrier of the cluster waits for stores to global memory before it.
Source: PTX ISA (mbarrier, bar.sync, cp.async.mbarrier.arrive); realkernels.microbench (barrier, barrier_unit,
  deferred, syncs, skeleton, cluster).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from gpusim.engine import CountingBarrier, Event, PhasedBarrier
from gpusim.errors import HazardError
from gpusim.hardware.sm.cta import RingState
from gpusim.program import (
    Acquire,
    Arrive,
    ClusterSync,
    ExpectTx,
    NamedBarrier,
    ProducerCommit,
    Release,
    SyncThreads,
    Wait,
    WaitFull,
)

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["BARRIER_HANDLERS", "end"]


def _wait_for(
    lane: WarpLane, barrier: PhasedBarrier, phase: int, reason: str, tile: int, ring: RingState | None, sharing: int
) -> Generator:
    """Wait until ``phase`` of an mbarrier has completed.

    ``sharing``: warps that use the mbarrier at the same time, to wait or to arrive; each delays the wait a little.

    Raises HazardError when the barrier is two phases further: its parity then looks as if the phase
    were still to come.
    """
    sim = lane.sim
    start = sim.now
    stage = ring.stage(tile) if ring is not None else -1
    if barrier.phase > phase + 1 > 0:
        if ring is not None:
            remedy = ring.remedy_for_skipped(barrier)
        else:
            remedy = lane.cta.remedy_for_skipped(barrier, lane.role.name)
        raise HazardError(
            role=lane.lane, ring=ring.ring.name if ring is not None else barrier.name, stage=stage, tile=tile,
            what=f"phase skipped: {barrier.name} is past phase {barrier.phase - 1}, phase {phase} was not seen",
            remedy=remedy or "nobody may arrive for the next phase before all who wait have seen this one",
        )  # fmt: skip
    event = barrier.wait(phase)
    warps, cost = lane.group.warps, lane.cost
    # What the looks of one CTA's warps take from each other is in the queue at the barrier.
    lane.owe(cost.mbarrier_wait_issue_slots * (1.0 - 1.0 / lane.sm.at_once))
    queue = sharing * cost.mbarrier_per_warp_s
    served = lane.sm.units.synchronise(warps, cost.mbarrier_wait_interval_s)
    if event.triggered:
        lane.apart_s = max(lane.apart_s, cost.mbarrier_wait_interval_s)
        yield from lane.spend("barrier", max(cost.mbarrier_poll_s + queue, served), tile, stage)
        return
    yield from lane.sim.wait(event, lane.lane, reason, barrier, tile)
    if reason == "stage_empty":
        lane.waits += 1
    lane.apart_s = cost.mbarrier_wait_interval_s
    yield sim.timeout(cost.mbarrier_wake_s + queue)
    lane.mark("wait", start, tile, stage, reason=reason, cause=barrier.cause)


def _stored_in_cluster(lane: WarpLane, tile: int) -> Generator:
    """Wait until what the warps stored in other CTAs is there, which others are about to be told."""
    yield from lane.spend("wait", lane.stored_s - lane.sim.now, tile, reason="store_drain")


def _arrive_on(
    lane: WarpLane, barrier: PhasedBarrier, tile: int, expect: float = 0.0, among: int = 1, counts: int = 1
) -> Generator:
    """One arrival per warp, and ``expect`` more bytes to come in this phase.

    With ``among`` CTAs of a cluster each warp arrives in all of them, and they all here at the same time; ``counts``:
    for how many the barrier takes each.
    """
    count, cause, cost = lane.group.warps, lane.last_interval, lane.cost
    lane.owe(cost.sync_issue_slots)
    later_s = cost.mbarrier_arrive_s
    if among > 1:
        served = lane.sm.units.arrive_in_cluster(count, among, lane.apart_s)
        later_s += cost.cluster_arrive_s
    else:
        served = lane.sm.units.synchronise(count, cost.mbarrier_arrive_interval_s)
    lane.sim.call_after(served + later_s, lambda _event: barrier.arrive(count * counts, expect, cause))
    yield from lane.spend("barrier", cost.mbarrier_arrive_issue_s, tile)


def _arrive_when_landed(lane: WarpLane, barrier: PhasedBarrier, tile: int) -> Generator:
    """The warps go on, and arrive at ``barrier`` when all their cp.async so far have landed."""
    arrivals = [*(arrival for _, arrival in lane.open), *(arrival for group in lane.groups for arrival in group)]
    lane.open = []
    count, cause, cost = lane.group.warps, lane.last_interval, lane.cost

    def landed(_event: Event) -> None:
        lane.sim.call_after(cost.mbarrier_arrive_s, lambda _event: barrier.arrive(count, 0.0, cause))

    lane.sim.all_of([arrival for arrival in arrivals if not arrival.processed]).callbacks.append(landed)
    lane.owe(cost.sync_issue_slots)
    yield from lane.spend("barrier", cost.mbarrier_arrive_issue_s, tile)


def _come(lane: WarpLane, barrier: CountingBarrier) -> Event:
    """The warps arrive at ``barrier``; the event: all have.

    One unit takes one warp's arrival after another, of all CTAs, and lets one after another go when all are there.
    """
    lane.sm.units.arrive(lane.group.warps, lane.apart_s)
    event = barrier.arrive(lane.group.warps, lane.last_interval)
    if event.triggered:
        lane.cta.let_go_s[barrier] = lane.sim.now + lane.sm.units.let_go(barrier.parties)
    return event


def end(lane: WarpLane) -> None:
    """The warps have done all: nobody waits for them any more where all warps that have not ended meet."""
    for barrier in (lane.cta.sync_threads, lane.cta.cluster_sync):
        barrier.satisfiers.remove(lane.lane)
        if barrier.leave(lane.group.warps, lane.last_interval):
            lane.cta.let_go_s[barrier] = lane.sim.now + lane.sm.units.let_go(barrier.parties)


def _meet(lane: WarpLane, barrier: CountingBarrier, base_s: float, tile: int) -> Generator:
    """Meet other warps at ``barrier``, which takes ``base_s`` when the last one has come."""
    sim = lane.sim
    start = sim.now
    lane.owe(lane.cost.sync_issue_slots)
    if (late_s := lane.fall_behind()) > 0.0:
        yield sim.timeout(late_s)
    event = _come(lane, barrier)
    if not event.triggered:
        yield from lane.sim.wait(event, lane.lane, "barrier", barrier, tile)
    lane.mark("wait", start, tile, reason="barrier", cause=barrier.cause)
    lane.apart_s = lane.cost.sync_arrive_s + lane.cost.sync_release_s
    lane.hold(lane.cta.let_go_s[barrier] + base_s, tile)


# -- ops ---------------------------------------------------------------------------------


def acquire(lane: WarpLane, op: Acquire) -> Generator:
    if not lane.executes(op):
        return
    ring = lane.cta.rings[op.ring]
    barrier, phase = ring.empty[ring.stage(op.tile)], op.tile // ring.ring.stages - 1
    sharing = max(ring.ring.empty_arrivals, lane.among(op))
    yield from _wait_for(lane, barrier, phase, "stage_full", op.tile, ring, sharing)


def producer_commit(lane: WarpLane, op: ProducerCommit) -> Generator:
    ring = lane.cta.rings[op.ring]
    barrier = ring.full[ring.stage(op.tile)]
    yield from (_arrive_when_landed if op.asynchronous else _arrive_on)(lane, barrier, op.tile)


def wait_full(lane: WarpLane, op: WaitFull) -> Generator:
    ring = lane.cta.rings[op.ring]
    barrier, phase = ring.full[ring.stage(op.tile)], op.tile // ring.ring.stages
    sharing = max(ring.ring.full_arrivals, lane.role.warps)
    yield from _wait_for(lane, barrier, phase, "stage_empty", op.tile, ring, sharing)


def release(lane: WarpLane, op: Release) -> Generator:
    ring = lane.cta.rings[op.ring]
    yield from _arrive_on(lane, ring.empty[ring.stage(op.tile)], op.tile, among=ring.among)


def arrive(lane: WarpLane, op: Arrive) -> Generator:
    among = lane.cta.cluster if op.cluster else 1
    if op.cluster:
        yield from _stored_in_cluster(lane, op.tile)
    yield from _arrive_on(lane, lane.cta.barriers[op.barrier], op.tile, among=among, counts=among)


def expect_tx(lane: WarpLane, op: ExpectTx) -> Generator:
    yield from _arrive_on(lane, lane.cta.barriers[op.barrier], op.tile, op.bytes)


def wait(lane: WarpLane, op: Wait) -> Generator:
    barrier = lane.cta.barriers[op.barrier]
    yield from _wait_for(lane, barrier, op.phase, "barrier", op.tile, None, lane.group.warps)


def sync_threads(lane: WarpLane, op: SyncThreads) -> Generator:
    yield from _meet(lane, lane.cta.sync_threads, lane.cost.sync_base_s, op.tile)


def cluster_sync(lane: WarpLane, op: ClusterSync) -> Generator:
    yield from _stored_in_cluster(lane, op.tile)
    # All CTAs of a cluster do the same at the same time.
    yield from _meet(lane, lane.cta.cluster_sync, lane.cost.cluster_sync_s, op.tile)


def named_barrier(lane: WarpLane, op: NamedBarrier) -> Generator:
    barrier = lane.cta.named_barrier(op.id, op.warps)
    if lane.lane not in barrier.satisfiers:
        barrier.satisfiers.append(lane.lane)
    if not op.wait:
        # As the others' arrivals, which the barrier takes one after another.
        lane.owe(lane.cost.sync_issue_slots)
        _come(lane, barrier)
        return
    yield from _meet(lane, barrier, lane.cost.sync_base_s + lane.cost.sync_named_extra_s, op.tile)


BARRIER_HANDLERS = {
    Acquire: acquire,
    ProducerCommit: producer_commit,
    WaitFull: wait_full,
    Release: release,
    Arrive: arrive,
    ExpectTx: expect_tx,
    Wait: wait,
    SyncThreads: sync_threads,
    ClusterSync: cluster_sync,
    NamedBarrier: named_barrier,
}
"""What each op of barriers does."""
