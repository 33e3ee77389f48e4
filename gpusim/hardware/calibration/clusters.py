"""What CTAs of a cluster cost each other, and on how many SMs clusters find room (bench `cluster`)."""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured

__all__ = ["CLUSTER_STEPS"]

SIZES = (2, 4, 8)
MANY_ARRIVALS = 8, 16
"""CTAs of a cluster and consumers of each that wait for nothing but their arrivals, in all clusters at once."""
FEW_WARPS = 4
"""Warps of each CTA at a barrier that takes as long as it takes by itself."""


def _arrivals(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """How long an SM takes for an arrival in another CTA, of many; how much later one counts there.

    The latter by rings of one stage, which all CTAs have to free, so that everybody waits for everybody in each turn.
    """

    def turn(size: int, tile: int) -> float:
        return b.one("cluster", "cycles", cluster=size, ctas=size, multicast=size > 1, what="ring", stages=1, tile=tile)

    size, warps = MANY_ARRIVALS
    many = b.rows("cluster", what="ring", cluster=size, multicast=True, warps=warps)
    interval = max(row["cycles"] for row in many) / (size * warps)
    tiles = sorted({row["tile"] for row in b.rows("cluster", what="ring", stages=1)})
    own = found["mbarrier.arrive_interval"].value
    later = [turn(2, tile) - turn(1, tile) + own - 2.0 * interval for tile in tiles]
    return {
        "cluster.arrive_interval": Measured(interval, "cycles", "cluster (16 consumers that free stages of 8 CTAs)"),
        "cluster.arrive_latency": Measured(
            float(np.mean(later)), "cycles", "cluster (rings of one stage, two CTAs against one)", float(np.std(later))
        ),
    }  # fmt: skip


def _barrier(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """A barrier of the cluster, beyond what the arrivals of its warps take."""
    turns = [b.one("cluster", "cycles", what="barrier", cluster=size, warps=FEW_WARPS) for size in SIZES]
    warps = FEW_WARPS * (found["barrier.arrive_per_warp"].value + found["barrier.release_per_warp"].value)
    took = float(np.mean(turns)) - warps
    return {"cluster.sync": Measured(took, "cycles", "cluster (barrier, four warps a CTA)", float(np.std(turns)))}


def _room(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """Part of the SMs that clusters of one CTA an SM reach. How many a GPC has differs from device to device."""
    sms = b.file("cluster")["device"]["sm_count"]
    most = max(row["shared_bytes"] for row in b.rows("cluster", what="fit"))
    return {
        f"cluster.reach_{size}": Measured(
            size * b.one("cluster", "most_clusters", what="fit", cluster=size, shared_bytes=most) / sms, "",
            f"cluster (fit, clusters of {size})",
        )
        for size in SIZES
    }  # fmt: skip


CLUSTER_STEPS = (_arrivals, _barrier, _room)
