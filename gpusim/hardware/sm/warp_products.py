"""Products on the tensor cores that a group of warps asks for and waits for later (wgmma).

Models: the instructions that issue a group, for which there must be room in the tensor cores' queue, the tensor cores
  that work it off beside them, and the wait for it.
Omits: that accumulators must not be touched in between.
Source: PTX ISA (wgmma); realkernels.microbench (wgmma, waiting_products).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from gpusim.engine import Event
from gpusim.program import Wgmma, WgmmaWait
from gpusim.program.remedies import PRODUCTS

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["PRODUCT_HANDLERS", "WgmmaGroup"]


class WgmmaGroup:
    """A group of products; as something to wait for, only the tensor cores can satisfy it."""

    satisfiers = ("tensor cores",)

    def __init__(self, lane: str, op: Wgmma, there: Event) -> None:
        self.name = f"products of {lane}"
        self.op = op
        self.there = there
        """When a warp that waits for them goes on."""
        self.cause = -1
        """Index of the interval of the tensor cores in which they were worked off."""


def wgmma(lane: WarpLane, op: Wgmma) -> Generator:
    start, sim, cost = lane.sim.now, lane.sim, lane.cost
    ring = lane.cta.rings[op.reads] if op.reads else None
    reader = lane.lane + PRODUCTS
    if ring is not None:
        ring.begin_read(reader, op.tile)
    yield lane.issue_code(op.other + cost.wgmma_issue_slots)
    there = sim.event()

    products = WgmmaGroup(lane.lane, op, there)

    def worked_off(event: Event) -> None:
        products.cause = event.value
        if ring is not None:
            ring.end_read(reader, op.tile)
        sim.succeed_after(there, cost.wgmma_latency_s)

    stage = ring.stage(op.tile) if ring else -1
    origin = lane.origin(op.tile, stage)
    done, asked_cycles = lane.sm.tensor_cores.ask(op, lane.group, origin)
    done.callbacks.append(worked_off)
    lane.products.append(products)
    if op.count > 1:
        yield lane.issue_code((op.count - 1) * cost.wgmma_issue_slots)
    if (room := lane.sm.tensor_cores.taken_in(op, lane.group, asked_cycles)) is not None:
        yield from sim.wait(room, lane.lane, "tensor_core_busy", products, op.tile)
    lane.mark("compute", start, op.tile, stage)


def wgmma_wait(lane: WarpLane, op: WgmmaWait) -> Generator:
    start, cause = lane.sim.now, -1
    while len(lane.products) > op.pending:
        group = lane.products.popleft()
        if not group.there.processed:
            yield from lane.sim.wait(group.there, lane.lane, "tensor_core_busy", group, op.tile)
            cause = group.cause
    # The warps wait, and what they have asked for is computed.
    lane.mark("compute", start, op.tile, cause=cause)


PRODUCT_HANDLERS = {Wgmma: wgmma, WgmmaWait: wgmma_wait}
"""What each op of products does."""
