"""What CTAs of a cluster do for each other: multicast copies, remote arrivals, barriers, and where they fit."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import KIB, L2_RANGE, Context, i32, spec

SOURCES = ("cluster.cu",)
NOTES = {
    "what": "ring (a producer warp and consumers), barrier (of the cluster), ping_pong (arrivals at another CTA's "
    "barrier, with cluster 1 at the own one's), fit",
    "cluster": "CTAs of a cluster",
    "multicast": "every CTA asks for an equal part of each tile, which all get, and arrives at the barriers of all",
    "warps": "consumers of a ring, or all of a CTA at a barrier",
    "cycles": "of a turn: median CTA",
    "single_cycles": "of one copy of a tile alone, issue to arrival: median CTA",
    "most_clusters": "on the device at once, by cudaOccupancyMaxActiveClusters; shared_bytes each CTA",
}
CLUSTERS = (1, 2, 4, 8)
RINGS = (
    (1, 2 * KIB, 1), (1, 16 * KIB, 1), (2, 16 * KIB, 1), (4, 4 * KIB, 1), (4, 16 * KIB, 1), (4, 32 * KIB, 1),
    (6, 32 * KIB, 1), (4, 8 * KIB, 8), (4, 8 * KIB, 16),
)  # fmt: skip
"""Stages, bytes of a tile, consumer warps."""
TURNS, ROUNDS = 512, 256
WARPS = (1, 4, 16)
ONE_AN_SM = 120 * KIB
"""Bytes of shared memory of a CTA that has its SM for itself."""
FIT = (8 * KIB, 100 * KIB, 200 * KIB)


def specs() -> list:
    rings = [spec("cluster.cu", "ring", **values) for values in _rings()]
    others = [
        spec("cluster.cu", name, CLUSTER=cluster) for cluster in CLUSTERS for name in ("barrier", "ping_pong", "places")
    ]
    return rings + others


def _rings() -> Iterator[dict[str, int]]:
    for cluster in CLUSTERS:
        for multicast in (0, 1) if cluster > 1 else (0,):
            for stages, tile, warps in RINGS:
                yield {"CLUSTER": cluster, "MULTICAST": multicast, "STAGES": stages, "TILE": tile, "CONSUMERS": warps}


def run(context: Context) -> Iterator[dict]:
    for values in _rings():
        yield from _ring(context, values)
    for cluster in CLUSTERS:
        grid = context.sms // cluster * cluster
        for warps in WARPS:
            stamps = context.warm(_other(context, "barrier", cluster), grid, 32 * warps, (i32(ROUNDS),), grid)
            yield {"what": "barrier", "cluster": cluster, "warps": warps, "cycles": float(np.median(stamps)) / ROUNDS}
        stamps = context.warm(_other(context, "ping_pong", cluster), cluster, 64, (i32(ROUNDS),), 1)
        yield {"what": "ping_pong", "cluster": cluster, "cycles": float(stamps[0]) / ROUNDS / 2}
        yield from _fit(context, cluster)


def _other(context: Context, name: str, cluster: int) -> CompiledKernel:
    return context.kernel("cluster.cu", name, CLUSTER=cluster)


def _ring(context: Context, values: dict[str, int]) -> Iterator[dict]:
    cluster, tile, stages, warps = (values[name] for name in ("CLUSTER", "TILE", "STAGES", "CONSUMERS"))
    kernel, grid = context.kernel("cluster.cu", "ring", **values), context.sms // cluster * cluster
    shared, turns = max(stages * tile, ONE_AN_SM), TURNS - stages
    for ctas in sorted({cluster, grid}):
        # Of a single cluster, and of as many as there are SMs for.
        args = (context.source, i32(L2_RANGE // tile), i32(TURNS))
        stamps = context.warm(kernel, ctas, 32 + 32 * warps, args, 2 * ctas, shared).reshape(ctas, 2)
        turn, single = np.median(stamps, axis=0)
        row = {
            "what": "ring",
            "cluster": cluster,
            "multicast": bool(values["MULTICAST"]),
            "stages": stages,
            "tile": tile,
        }
        slowest = float(stamps[:, 0].max()) / turns
        row |= {"warps": warps, "ctas": ctas, "cycles": float(turn) / turns, "slowest": slowest}
        yield row | {"single_cycles": float(single)}


def _fit(context: Context, cluster: int) -> Iterator[dict]:
    kernel = _other(context, "places", cluster)
    for shared in FIT:
        yield {
            "what": "fit",
            "cluster": cluster,
            "shared_bytes": shared,
            "most_clusters": _most(kernel, cluster, shared),
        }


def _most(kernel: CompiledKernel, cluster: int, shared: int) -> int:
    """By the driver: cuOccupancyMaxActiveClusters."""

    class Attribute(ctypes.Structure):
        _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16))

    class Config(ctypes.Structure):
        _fields_ = (
            *((name, ctypes.c_uint) for name in ("gx", "gy", "gz", "bx", "by", "bz", "shared")),
            ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint),
        )  # fmt: skip

    handle = kernel.prepared(shared).kernel.ptr
    size = Attribute(id=4)
    size.value[:3] = cluster, 1, 1
    config = Config(1024 * cluster, 1, 1, 64, 1, 1, shared, None, ctypes.pointer(size), 1)
    found = ctypes.c_int()
    error = ctypes.CDLL("libcuda.so.1").cuOccupancyMaxActiveClusters(
        ctypes.byref(found), ctypes.c_void_p(handle), ctypes.byref(config)
    )
    if error:
        raise RuntimeError(f"cuOccupancyMaxActiveClusters: CUDA error {error}")
    return found.value
