"""Hazards of a group of warps: at which of its ops one was found, and what is left undone when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpusim.errors import HazardError
from gpusim.program import Op, TimeStamp

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["check_end", "found_at"]


def found_at(lane: WarpLane, found: HazardError, begun: int) -> HazardError:
    """``found``, which says that it was in the last of ``begun`` ops; time stamps are none of the program's own."""
    ops = list(lane.cta.parts.ops(lane.role, lane.cta.tiles))[:begun]
    return found.found_at((lane.cta.tiles, sum(not isinstance(op, TimeStamp) for op in ops) - 1))


def check_end(lane: WarpLane) -> None:
    """Raises HazardError for products and copies of a ``lane`` that has done all its ops for which nothing waits."""
    if lane.products:
        op = lane.products[0].op
        raise _left(
            lane, op, op.reads or "",
            "products of wgmma for which nothing waits, so that their results are never there",
            "wait for them at the end (wgmma_wait: 0)",
        )  # fmt: skip
    if lane.open:
        op = lane.open[0][0]
        raise _left(
            lane, op, op.ring, "cp.async copies that belong to no group, so that no wait covers them",
            "commit the group after its copies (cp.async.commit_group)",
        )  # fmt: skip


def _left(lane: WarpLane, op: Op, ring: str, what: str, remedy: str) -> HazardError:
    stage = lane.cta.rings[ring].stage(op.tile) if ring else -1
    error = HazardError(role=lane.lane, ring=ring, stage=stage, tile=op.tile, what=what, remedy=remedy)
    return found_at(lane, error, 1 + list(lane.cta.parts.ops(lane.role, lane.cta.tiles)).index(op))
