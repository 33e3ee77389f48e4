"""Idle latency of a global load by working set: L1, near and far L2, DRAM."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import GIB, KIB, MIB, Context, i32, spec, u64

SOURCES = ("latency.cu",)
NOTES = {
    "bypass_l1": "false: plain load; true: ld.global.cg",
    "warmed": "true: the whole set was chased once before; false: cold, L2 emptied, each node visited once",
    "cycles": "SM cycles per dependent load, mean of an unstamped chase",
    "p10": "and p50, p90, max: percentiles of single stamped loads (a few cycles of stamping included)",
}
SETS = (
    *(16 * KIB, 64 * KIB, 128 * KIB, 1 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 24 * MIB, 32 * MIB, 40 * MIB, 48 * MIB),
    *(256 * MIB, 2 * GIB),
)
LARGEST_WARMED = 48 * MIB
STRIDE = 128
COLD_NODES = 16384
STEPS = 8192
STAMPED = 2048


def specs() -> list:
    return [spec("latency.cu", "latency", BYPASS_L1=bypass) for bypass in (0, 1)]


def run(context: Context) -> Iterator[dict]:
    for size in SETS:
        warmed = size <= LARGEST_WARMED
        first, nodes = link_nodes(context.target, size, size // STRIDE if warmed else COLD_NODES)
        for bypass in (0, 1):
            kernel = context.kernel("latency.cu", "latency", BYPASS_L1=bypass)
            context.flush()
            args = (u64(first), i32(nodes if warmed else 0), i32(STEPS), i32(STAMPED))
            stamps = context.stamps(kernel, 1, 1, args, 2 + STAMPED)
            single = stamps[1 : 1 + STAMPED]
            p10, p50, p90 = np.percentile(single, [10, 50, 90])
            yield {
                "bytes": size,
                "bypass_l1": bool(bypass),
                "warmed": warmed,
                "cycles": float(stamps[0]) / STEPS,
                "p10": float(p10),
                "p50": float(p50),
                "p90": float(p90),
                "max": float(single.max()),
            }


def link_nodes(buffer, size: int, count: int) -> tuple[int, int]:
    """Write a random cycle over ``count`` lines of the first ``size`` bytes; return its start and length."""
    import cupy

    rng = np.random.default_rng(7)
    lines = size // STRIDE
    order = rng.permutation(lines) if count == lines else rng.choice(lines, size=count, replace=False, shuffle=True)
    order = order.astype(np.int64)
    words = buffer[: size // 4].view(cupy.uint64)
    addresses = (buffer.data.ptr + np.roll(order, -1) * STRIDE).astype(np.uint64)
    words[cupy.asarray(order * (STRIDE // 8))] = cupy.asarray(addresses)
    return buffer.data.ptr + int(order[0]) * STRIDE, len(order)
