"""From microbenchmarks to what barriers of warps and mbarriers cost.

Each function isolates one mechanism; its docstring says which benches and how.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.calibration.memory import HOP_INSTRUCTIONS

__all__ = ["BARRIER_STEPS"]


def _cta_barriers(b: Benches, _: dict) -> dict[str, Measured]:
    """bar.sync and named barriers: a straight line through the cycles against the number of warps."""

    def line(**where: Any) -> tuple[float, float, float]:
        """Cycles of no warp, of each further warp, and the largest distance from the line."""
        rows = b.rows("barrier", **where)
        warps = np.array([row["warps"] for row in rows], dtype=float)
        cycles = np.array([row["cycles"] for row in rows])
        slope, base = np.polyfit(warps, cycles, 1)
        return float(base), float(slope), float(np.abs(base + slope * warps - cycles).max())

    bare, bare_slope, off = line(kind="cta_sync")
    named, _, _ = line(kind="named_sync")
    # Those who came long before cost nothing but their release.
    _, release, release_off = line(kind="late", work=40)
    return {
        "barrier.base": Measured(bare, "cycles", "barrier (cta_sync)", off),
        "barrier.arrive_per_warp": Measured(
            bare_slope - release, "cycles", "barrier (cta_sync, less the release)", off
        ),
        "barrier.release_per_warp": Measured(release, "cycles", "barrier (late, 1 to 32 warps)", release_off),
        "barrier.named_extra": Measured(named - bare, "cycles", "barrier (named_sync)"),
    }


def _mbarrier_operations(b: Benches, _: dict) -> dict[str, Measured]:
    """Arrivals and waits: what they take of the warp, of its scheduler, and of the SM's unit for mbarriers."""

    def interval(op: str) -> float:
        """Between two operations of different warps on the same barrier."""
        return b.one("syncs", "cycles_per_operation", kind="operations", op=op, shared=True, warps=32)

    # What a wait adds to FFMAs that keep the schedulers busy, eight warps on each.
    ffmas, warps, loop = 64, 32, 3 / 8
    turn = warps * b.one("syncs", "cycles_per_operation", kind="beside", op="wait", ffmas=ffmas, warps=warps)
    poll = b.one("skeleton", "cycles_per_turn", kind="consumer", mode="wait")
    poll -= b.one("skeleton", "cycles_per_turn", kind="consumer", mode="loop")
    return {
        "mbarrier.poll": Measured(poll, "cycles", "skeleton (loop with and without the wait)"),
        "mbarrier.arrive_interval": Measured(interval("arrive"), "cycles", "syncs (arrivals of 32 warps)"),
        "mbarrier.wait_issue": Measured(
            turn / (warps / 4) - ffmas - loop, "cycles", "syncs (waits beside 64 FFMAs each)"
        ),
        "mbarrier.wait_interval": Measured(interval("wait"), "cycles", "syncs (waits of 32 warps)"),
        "mbarrier.arrive_issue": Measured(
            b.one("barrier", "cycles", kind="mbarrier", op="arrive"), "cycles", "barrier (arrive)"
        ),
    }


def _mbarrier_hand_over(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """From an arrival until a warp that waits goes on, by the turns of a producer and its consumers.

    With one stage producer and consumer wait for each other: two hops, and between two of them the instructions from
    the wait to the arrival. The rest of their loops is behind the arrival.
    """

    def turn(warps: int, stages: int = 8) -> float:
        return b.one("skeleton", "cycles_per_turn", kind="hand_over", bytes=0, stages=stages, ctas=1,
                     consumer_warps=warps)  # fmt: skip

    per_warp = (turn(16) - turn(1)) / 15.0
    between = HOP_INSTRUCTIONS * found["sm.setup_latency"].value
    hop = turn(1, stages=1) / 2.0 - between - per_warp - found["mbarrier.arrive_interval"].value
    half = Measured(hop / 2.0, "cycles", "skeleton (hand-over of one stage: half of a hop)")
    return {
        "mbarrier.wake": half,
        "mbarrier.arrive_latency": half,
        "mbarrier.per_warp": Measured(per_warp, "cycles", "skeleton (hand-over, 1 to 16 consumer warps)"),
    }


BARRIER_STEPS = (_cta_barriers, _mbarrier_operations, _mbarrier_hand_over)
