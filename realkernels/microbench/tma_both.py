"""A bulk load and a bulk store that a CTA has under way at the same time, and the fence before bulk stores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, L2_RANGE, MEMORY_RANGE, Context, i32, settled, spec, u64

SOURCES = ("tma_both.cu",)
NOTES = {
    "kind": "both: a load and a store; fence: turns of stores to shared memory by all warps, with or without the fence",
    "load_bytes": "0: none", "store_bytes": "0: none",
    "source": "of the load: l2 or dram",
    "busy_sms": "SMs that do this at all",
    "delay_cycles": "from the load to the store, as asked for",
    "load_cycles": "from asking to arrival, median over turns and SMs",
    "store_cycles": "from asking until the source has been read, the same",
    "store_asked_cycles": "when the store was asked for, since the load was, the same",
    "stores": "vectors of 16 bytes that each lane writes in a turn",
    "cycles_median": "fence: SM cycles of a turn",
}  # fmt: skip
TURNS = 60
WARM = 10
"""Turns left out at the start."""
PERIOD = 6000
SIZES = ((16 * KIB, 16 * KIB), (4 * KIB, 16 * KIB), (16 * KIB, 4 * KIB), (32 * KIB, 16 * KIB))
ALONE = ((16 * KIB, 0), (4 * KIB, 0), (32 * KIB, 0), (0, 16 * KIB), (0, 4 * KIB))
DELAYS = (-800, -600, -400, -200, -100, -50, 0, 50, 100, 200, 300, 400, 600, 800, 1000)
RANGES = {"l2": L2_RANGE, "dram": MEMORY_RANGE}
STORES = (0, 1, 4)
WARPS = (1, 2, 4, 8, 16)
FENCE_TURNS, REPEATS = 200, 5


def specs() -> list:
    both = [spec("tma_both.cu", "load_and_store", LOAD=load, STORE=store, STORES=0) for load, store in SIZES + ALONE]
    return both + [spec("tma_both.cu", "proxy_fence", LOAD=0, STORE=0, STORES=stores) for stores in STORES]


def run(context: Context) -> Iterator[dict]:
    for source, size in RANGES.items():
        for load, store in SIZES + ALONE:
            kernel = context.kernel("tma_both.cu", "load_and_store", LOAD=load, STORE=store, STORES=0)
            for busy in (1, context.sms) if source == "dram" else (1,):
                for delay in DELAYS if load and store else (0,):
                    args = (context.source, context.target, u64(size - 1), i32(TURNS), np.int64(PERIOD), i32(delay))
                    launch = context.warm if source == "l2" else context.cold
                    stamps = launch(kernel, busy, 64, args, 4 * busy * TURNS, load + store)
                    rows = stamps.reshape(busy, TURNS, 4)[:, WARM:]
                    asked, arrived, told, read = (rows[..., column] for column in range(4))
                    yield {
                        "kind": "both", "load_bytes": load, "store_bytes": store, "source": source, "busy_sms": busy,
                        "delay_cycles": delay,
                        "load_cycles": float(np.median(arrived - asked)),
                        "store_cycles": float(np.median(read - told)),
                        "store_asked_cycles": float(np.median(told - asked)),
                    }  # fmt: skip
    for stores in STORES:
        kernel = context.kernel("tma_both.cu", "proxy_fence", LOAD=0, STORE=0, STORES=stores)
        for warps in WARPS:
            for fence in (0, 1):
                args = (i32(FENCE_TURNS), i32(fence), i32(REPEATS))
                turns = context.stamps(kernel, 1, 32 * warps, args, REPEATS, 16 * KIB * max(stores, 1)) / FENCE_TURNS
                yield {"kind": "fence", "stores": stores, "warps": warps, "fence": bool(fence), **settled(turns)}
