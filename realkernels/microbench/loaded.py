"""Latency of loads beside other traffic: reads of other CTAs, and stores by the copy unit or by threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, L2_RANGE, MEMORY_RANGE, Context, i32, spec, u32, u64

SOURCES = ("loaded.cu",)
NOTES = {
    "store": "bulk: by the copy unit, at most one still reading its source; st: st.global.v4 by four warps",
    "target": "dram: 4 GiB; l2: 16 MiB written over and over",
    "load_cycles": "one bulk load, expect_tx to the return of the wait; mean over all CTAs",
    "load_spread": "standard deviation of that mean over CTAs",
    "store_cycles": "issue of a store until the one before it has left its source (bulk), or issue alone (st)",
    "read_bytes_per_s": "whole device, 60 us after the start and later",
    "load_delay": "SM cycles between the end of a load and the next",
    "store_delay": "SM cycles between a store and the next",
}
WARM_UP, DURATION = 120_000, 400_000
LOADS = ((128, 1), (KIB, 4), (4 * KIB, 1), (4 * KIB, 4), (16 * KIB, 1), (16 * KIB, 2), (16 * KIB, 4), (32 * KIB, 2))
LOAD_DELAYS = (0, 800, 2500)
STORES = ((0, 0), (4 * KIB, 0), (4 * KIB, 700), (4 * KIB, 2000), (16 * KIB, 0), (16 * KIB, 1500), (16 * KIB, 5000))


def specs() -> list:
    return [spec("loaded.cu", "loaded", STORE=store) for store in (0, 1)]


def run(context: Context) -> Iterator[dict]:
    for kind, store in (("bulk", 0), ("st", 1)):
        kernel = context.kernel("loaded.cu", "loaded", STORE=store)
        for target, span in (("dram", MEMORY_RANGE), ("l2", L2_RANGE)):
            for size, ctas_per_sm in (*LOADS, (0, 1), (0, 2), (0, 4)):
                for load_delay in LOAD_DELAYS if size else (0,):
                    for store_bytes, store_delay in STORES:
                        if store_bytes or (size and target == "dram" and kind == "bulk"):
                            point = size, ctas_per_sm, load_delay, store_bytes, store_delay
                            yield {"store": kind, "target": target, **_measure(context, kernel, point, store, span)}


def _measure(context: Context, kernel, point: tuple[int, ...], store: int, span: int) -> dict:
    size, ctas_per_sm, load_delay, store_bytes, store_delay = point
    grid = context.sms * ctas_per_sm
    args = (
        context.source, context.target, u32(size), u32(store_bytes), i32(load_delay), i32(store_delay),
        u64(MEMORY_RANGE), u64(span), np.int64(WARM_UP), np.int64(DURATION),
    )  # fmt: skip
    shared = max(size + store_bytes, 228 * KIB // (ctas_per_sm + 1))
    threads = 160 if store else 64
    stamps = context.cold(kernel, grid, threads, args, 6 * grid, shared).reshape(grid, 6)
    _, loads, load_cycles, stored, store_cycles, counted = stamps.T.astype(float)
    seconds = counted.max() / context.clock_hz
    each = load_cycles / np.maximum(loads, 1)
    stores = stored.sum() / max(store_bytes, 1)
    return {
        "load_bytes": size,
        "ctas_per_sm": ctas_per_sm,
        "load_delay": load_delay,
        "store_bytes": store_bytes,
        "store_delay": store_delay,
        "load_cycles": float(load_cycles.sum() / max(loads.sum(), 1)),
        "load_spread": float(each.std()),
        "store_cycles": float(store_cycles.sum() / stores) if stores else 0.0,
        "read_bytes_per_s": float(loads.sum() * size / seconds),
        "written_bytes_per_s": float(stored.sum() / seconds),
        "most_ctas_on_one_sm": int(np.bincount(stamps[:, 0]).max()),
    }
