"""What CTAs of a cluster cost each other, and on how many SMs clusters find room (benches `cluster`, `dsmem`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.program import WARP_SIZE

__all__ = ["CLUSTER_STEPS"]

SIZES = (2, 4, 8)
WIDE = 16
"""Bytes a lane of the widest load or store."""
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


def _network(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """Loads from and stores to shared memory of other CTAs, while all SMs do so: rates by many warps, latencies."""
    latencies = [row["cycles"] for row in b.rows("dsmem", what="chain") if row["ctas"] > row["cluster"]]
    found = {
        "cluster.load_latency": Measured(
            float(np.mean(latencies)), "cycles", "dsmem (chain, all clusters)", float(np.ptp(latencies))
        )
    }
    for op in ("load", "store"):
        each = [_rate(b, op, size) for size in SIZES]
        found[f"cluster.{op}_bandwidth"] = Measured(
            float(np.mean(each)), "B/cycle", "dsmem (flood, many warps, all clusters)", float(np.ptp(each))
        )
        found[f"cluster.{op}_data_interval"] = _data_interval(b, op)
    few = {"what": "meet", "warps": FEW_WARPS}
    later = [
        b.one("dsmem", "cycles", cluster=size, count=1, **few) - b.one("dsmem", "cycles", cluster=size, count=0, **few)
        - FEW_WARPS * WARP_SIZE * WIDE / _rate(b, "store", size)
        for size in SIZES
    ]  # fmt: skip
    found["cluster.store_latency"] = Measured(
        float(np.mean(later)), "cycles", "dsmem (meet, behind a store and without)", float(np.ptp(later))
    )
    return found


def _rate(b: Benches, op: str, size: int) -> float:
    """Bytes a cycle of an SM, next door and anywhere, by as many warps as do not wait for themselves."""
    rows = b.rows("dsmem", what="flood", op=op, cluster=size, width=WIDE, own=0, offset=0)
    return float(
        np.mean([WARP_SIZE * WIDE / row["cycles"] for row in rows if row["ctas"] > size and row["warps"] >= FEW_WARPS])
    )


def _data_interval(b: Benches, op: str) -> Measured:
    """Cycles of the path of shared memory, at both ends together, for 128 bytes: what loads from there lose."""
    beside = [row for row in b.rows("dsmem", what="flood") if row["own"] and row["ctas"] > row["cluster"]]
    hardly = next(row for row in beside if row["ahead"] == 1)

    def moved(row: dict[str, Any]) -> float:
        return WARP_SIZE * row["width"] / row["cycles"]

    lost = [
        (hardly["own_bytes_per_cycle"] - row["own_bytes_per_cycle"]) / (moved(row) - moved(hardly))
        for row in beside if row["op"] == op and row is not hardly
    ]  # fmt: skip
    return Measured(float(np.mean(lost)), "cycles", "dsmem (flood, beside loads from own)", float(np.ptp(lost)))


CLUSTER_STEPS = (_arrivals, _barrier, _room, _network)
