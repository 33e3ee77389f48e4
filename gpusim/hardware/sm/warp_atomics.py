"""What a group of warps does that updates global memory atomically.

Models: the instructions that issue the updates, the queue of the SM's load-store path, which they share with stores,
  and who waits for old values.
Source: realkernels.microbench atomics.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from gpusim.hardware.memory.access import access_of
from gpusim.hardware.sm.costs import MemoryBatch
from gpusim.hardware.sm.warp_copies import Request
from gpusim.program import WARP_SIZE, Atomic

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["atomic"]


def atomic(lane: WarpLane, op: Atomic) -> Generator:
    """What `lane` does for ``op``."""
    if not lane.executes(op) or not op.bytes:
        return
    start, memory = lane.sim.now, lane.sm.memory
    access, amount = access_of(op.width, op.stride, op.scatter), op.bytes * lane.share(op)
    cost = lane.cost.ldg._replace(interval=memory.atomic_interval)
    issued = lane.issue_memory(MemoryBatch(lane.instructions(op), op.other, op.masked, access.passes(), op.width, cost))
    if access.dense:
        yield issued
    sent, arrival = memory.update(op, amount, lane.origin(op.tile))
    if not access.dense:
        # As of stores, the turns of lines that are not touched whole are those in which they are sent.
        yield issued
    each = min(lane.group.warps * WARP_SIZE * op.width, amount)
    yield from memory.stores.room(each * sent / amount)
    if arrival is None:
        lane.mark("store", start, op.tile)
        return
    if not arrival.processed:
        lane.waits += 1
        yield from lane.sim.wait(arrival, lane.lane, "copy_in_flight", Request(lane.lane), op.tile)
    lane.mark("load", start, op.tile)
