"""Load, wait, compute without a ring on all SMs: lock-step on HBM, or drift."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, MEMORY_RANGE, Context, i32, spec, u32, u64

SOURCES = ("tma.cu",)
NOTES = {
    "delay": "SM cycles spun after each load",
    "period_cycles": "mean cycles per turn over all CTAs; period_min and period_max over CTAs",
    "device_period_s": "first start to last end by the global timer, per turn",
    "finish_spread_s": "earliest to latest end of a CTA",
    "bytes_per_s": "whole device",
}
TURNS = 200
DELAYS = (0, 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000)


def specs() -> list:
    return [spec("tma.cu", "burst")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("tma.cu", "burst")
    for ctas_per_sm in (1, 2):
        grid = context.sms * ctas_per_sm
        for size in (4 * KIB, 16 * KIB, 64 * KIB):
            for delay in DELAYS:
                args = (context.source, u32(size), i32(delay), i32(TURNS), u64(MEMORY_RANGE))
                cycles, sms, first, last = context.cold(kernel, grid, 32, args, 4 * grid, size).reshape(grid, 4).T
                elapsed = float(last.max() - first.min()) * 1e-9
                yield {
                    "bytes": size,
                    "ctas_per_sm": ctas_per_sm,
                    "delay": delay,
                    "period_cycles": float(cycles.mean()) / TURNS,
                    "period_min": float(cycles.min()) / TURNS,
                    "period_max": float(cycles.max()) / TURNS,
                    "device_period_s": elapsed / TURNS,
                    "finish_spread_s": float(last.max() - last.min()) * 1e-9,
                    "start_spread_s": float(first.max() - first.min()) * 1e-9,
                    "bytes_per_s": grid * size * TURNS / elapsed,
                    "most_ctas_on_one_sm": int(np.bincount(sms).max()),
                }
