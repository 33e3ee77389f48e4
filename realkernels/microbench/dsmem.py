"""Shared memory of other CTAs of a cluster: latency of loads, rates of loads and stores, and what own loads lose."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("dsmem.cu",)
NOTES = {
    "what": "chain (one thread, each load needs the one before), flood (all warps, many at once), meet (16 bytes a "
    "thread stored COUNT times, then a barrier of the cluster)",
    "where": "next: in the next CTA of the cluster; any: of each warp and turn in another one, at random",
    "offset": "bytes from a line of 128 at which each instruction begins",
    "cluster": "CTAs of a cluster",
    "ctas": "of the launch, each on an SM of its own",
    "op": "load or store",
    "width": "bytes a lane",
    "ahead": "instructions of a warp under way at once",
    "own": "warps of each CTA that load 16 bytes a lane from their own shared memory meanwhile",
    "count": "stores of a thread before the barrier",
    "cycles": "of a load (chain), an instruction of the whole SM (flood), a turn (meet): median of clusters or CTAs",
    "slowest": "the same of the slowest CTA",
    "own_bytes_per_cycle": "of an SM's own loads: median CTA",
}
CLUSTERS = (2, 4, 8)
TURNS, ROUNDS = 512, 256
ALONE = 130 * KIB
"""Bytes of shared memory of a CTA that has its SM for itself."""
AHEAD = 8
LOADS, STORES = 0, 1
FLOODS = ((4, 1), (16, 1), (4, 16), (8, 8), (16, 4), (16, 16))
"""Bytes a lane and warps."""
OWN_WARPS = 8
ANYWHERE, OFF_LINE = ((16, 4), (16, 16)), 16
"""Bytes a lane and warps that load at random, or off a line by so many bytes."""
BESIDE = ((LOADS, 4, 8), (LOADS, 16, 8), (STORES, 16, 2))
"""Op, bytes a lane and warps beside which others load from their own shared memory."""
MEETS = ((0, 4), (1, 4), (4, 4), (0, 16), (1, 16), (4, 16))
"""Stores of a thread and warps."""


def specs() -> list:
    return [spec("dsmem.cu", name, **values) for name, values in _kernels()]


def _kernels() -> Iterator[tuple[str, dict[str, int]]]:
    for cluster in CLUSTERS:
        yield "chain", {"CLUSTER": cluster}
        for values in _floods(cluster):
            yield "flood", values
        for count in sorted({count for count, _ in MEETS}):
            yield "store_and_meet", {"CLUSTER": cluster, "COUNT": count}


def _floods(cluster: int) -> Iterator[dict[str, int]]:
    for op in (LOADS, STORES):
        for width, warps in FLOODS:
            yield _flood_of(cluster, op, width, warps, 0)
    for op, (width, warps) in product((LOADS, STORES), ANYWHERE):
        if cluster > 2:
            yield _flood_of(cluster, op, width, warps, 0) | {"ANY": 1}
        if warps == 16:
            yield _flood_of(cluster, op, width, warps, 0) | {"OFFSET": OFF_LINE}
    if cluster == CLUSTERS[0]:
        for op, width, warps in BESIDE:
            yield _flood_of(cluster, op, width, warps, OWN_WARPS)
        # What own loads get where hardly anybody loads from elsewhere.
        yield _flood_of(cluster, LOADS, 4, 1, OWN_WARPS) | {"AHEAD": 1}


def _flood_of(cluster: int, op: int, width: int, warps: int, own: int) -> dict[str, int]:
    values = {"CLUSTER": cluster, "OP": op, "WIDTH": width, "WARPS": warps, "OWN": own, "AHEAD": AHEAD}
    return values | {"ANY": 0, "OFFSET": 0}


def run(context: Context) -> Iterator[dict]:
    for cluster in CLUSTERS:
        grid = _clusters_at_once(context, cluster) * cluster
        kernel = context.kernel("dsmem.cu", "chain", CLUSTER=cluster)
        for ctas in (cluster, grid):
            stamps = context.warm(kernel, ctas, 32, (i32(4 * ROUNDS),), ctas // cluster, ALONE)
            row = {"what": "chain", "cluster": cluster, "ctas": ctas, "cycles": float(np.median(stamps)) / (4 * ROUNDS)}
            yield row | {"slowest": float(stamps.max()) / (4 * ROUNDS)}
        for values in _floods(cluster):
            for ctas in (cluster, grid):
                yield _flood(context, values, ctas)
        for count, warps in MEETS:
            kernel = context.kernel("dsmem.cu", "store_and_meet", CLUSTER=cluster, COUNT=count)
            stamps = context.warm(kernel, grid, 32 * warps, (i32(ROUNDS),), grid, ALONE)
            row = {"what": "meet", "cluster": cluster, "ctas": grid, "count": count, "warps": warps}
            yield row | {"cycles": float(np.median(stamps)) / ROUNDS, "slowest": float(stamps.max()) / ROUNDS}


def _clusters_at_once(context: Context, cluster: int) -> int:
    """So many find room; larger ones leave some SMs of each GPC empty."""
    return context.sms // cluster if cluster == 2 else context.sms * 10 // 11 // cluster


def _flood(context: Context, values: dict[str, int], ctas: int) -> dict:
    warps, own, ahead = (values[name] for name in ("WARPS", "OWN", "AHEAD"))
    kernel = context.kernel("dsmem.cu", "flood", **values)
    # The words it loads are zeros, and so nothing is ever written there.
    args = (i32(TURNS), context.target)
    stamps = context.warm(kernel, ctas, 32 * (warps + own), args, 3 * ctas, ALONE).reshape(ctas, 3)
    instructions = TURNS * ahead * warps
    row = {"what": "flood", "cluster": values["CLUSTER"], "ctas": ctas, "op": "store" if values["OP"] else "load"}
    row |= {"where": "any" if values["ANY"] else "next", "offset": values["OFFSET"]}
    row |= {"width": values["WIDTH"], "warps": warps, "ahead": ahead, "own": own}
    row |= {"cycles": float(np.median(stamps[:, 0])) / instructions}
    row |= {"slowest": float(stamps[:, 0].max()) / instructions}
    if own:
        row |= {"own_bytes_per_cycle": float(np.median(512 * stamps[:, 1] / stamps[:, 2]))}
    return row
