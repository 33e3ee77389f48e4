"""What a group of warps loads from shared memory of other CTAs of its cluster, and stores there.

Models: one network port of the SM, which passes what its CTAs ask of others one after another, and as much that others
  ask of it; latency; turns of the data path of shared memory at either end. Barriers of the cluster and arrivals in it
  wait until the warps' own stores are there.
Omits: where in the GPC the other SM is (a tenth of the latency), how many clusters share the network at the moment (the
  rates are those of a full device), that stores leave less of the network for copies from L2.
Source: realkernels.microbench (dsmem).
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING

from gpusim.engine import Event
from gpusim.hardware.memory.access import DENSE
from gpusim.hardware.sm.costs import MemoryBatch, MemoryIssue
from gpusim.hardware.sm.cta import RingState
from gpusim.hardware.sm.warp_loads import LoadUnderWay, await_loads, loaded
from gpusim.program import LoadCluster, StoreCluster

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["CLUSTER_HANDLERS"]


def load_cluster(lane: WarpLane, op: LoadCluster) -> Generator:
    if not lane.executes(op):
        if not op.wait:
            # `WaitLoads` counts it all the same.
            lane.loads.append(LoadUnderWay())
        return
    start, cost = lane.sim.now, lane.cost
    ring = lane.cta.rings[op.reads] if op.reads else None
    if ring is not None:
        ring.begin_read(lane.lane, op.tile)
    passed_s = yield from _pass(lane, op, cost.cluster_load, cost.cluster_load_s_per_byte)
    arrival = lane.sim.timeout(passed_s - lane.sim.now + cost.cluster_load_latency_s)
    if ring is not None:
        arrival.callbacks.append(partial(_read, lane, ring, op.tile))
    lane.loads.append(LoadUnderWay([arrival]))
    if op.wait:
        yield from await_loads(lane, op.tile)
        lane.mark("load", start, op.tile)
    else:
        lane.mark("issue", start, op.tile)
        if lane.trace is not None:
            arrival.callbacks.append(partial(loaded, lane, start, op.tile, op.bytes, lane.last_interval))


def _pass(lane: WarpLane, op: LoadCluster | StoreCluster, issue: MemoryIssue, s_per_byte: float) -> Generator:
    """Issue all of ``op``; when what it asks for has passed the network, of which the last is asked for at the end."""
    count, start, takes_s = lane.instructions(op), lane.sim.now, op.bytes * lane.share(op) * s_per_byte
    passed_s = start + lane.sm.units.pass_network(takes_s)
    if lane.trace is not None:
        amount = round(op.bytes * lane.share(op))
        lane.trace(f"{lane.cta.lane}.dsmem", "transfer", passed_s - takes_s, passed_s, tile=op.tile, bytes=amount)
    yield from lane.reach_shared_memory()
    yield lane.issue_memory(MemoryBatch(count, op.other, op.masked, DENSE.passes(), op.width, issue))
    return max(passed_s, lane.sim.now + takes_s / max(count, 1.0))


def _read(lane: WarpLane, ring: RingState, tile: int, _arrival: Event) -> None:
    ring.end_read(lane.lane, tile)


def store_cluster(lane: WarpLane, op: StoreCluster) -> Generator:
    if not lane.executes(op):
        return
    start, cost = lane.sim.now, lane.cost
    passed_s = yield from _pass(lane, op, cost.cluster_store, cost.cluster_store_s_per_byte)
    lane.stored_s = passed_s + cost.cluster_store_latency_s
    lane.mark("store", start, op.tile)


CLUSTER_HANDLERS = {LoadCluster: load_cluster, StoreCluster: store_cluster}
"""What each op on shared memory of other CTAs does."""
