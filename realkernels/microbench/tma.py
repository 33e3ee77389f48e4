"""Bulk copies from global to shared memory: latency, issue cost, throughput of a ring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import (
    GIB,
    KIB,
    L2_RANGE,
    MEMORY_RANGE,
    MIB,
    Context,
    clamp,
    i32,
    per_cta,
    settled,
    spec,
    u32,
    u64,
)

SOURCES = ("tma.cu",)
NOTES = {
    "kind": "latency: one copy at a time, expect_tx to the return of the wait; issue: n copies by one thread, not "
    "waited for; ring: `outstanding` copies in flight per CTA, reissued as they land",
    "arrivals": "order: cycles from issue to arrival, per CTA (earliest first) and copy; all SMs",
    "source": "l2: touched before; dram: cold, 128 KiB apart; dram_scattered: cold, 5 MiB apart (translation misses)",
    "cycles_median": "latency: of one copy; issue: of all n copies; ring: of one CTA's whole run",
    "landed_median": "issue: until all n have arrived",
    "bytes_per_cycle_per_sm": "ring: all CTAs of one SM",
    "bytes_per_s": "ring: whole device, until the slowest CTA is done",
}
LATENCY_BYTES = (16, 128, 512, *(k * KIB for k in (1, 2, 4, 8, 16, 32, 64)))
RING_BYTES = tuple(k * KIB for k in (1, 2, 4, 8, 16, 32))
OUTSTANDING = (1, 2, 3, 4, 6, 8, 16)
SHARED_PER_SM = 200 * KIB


def specs() -> list:
    return [spec("tma.cu", "tma_ring")]


def run(context: Context) -> Iterator[dict]:
    yield from _latency(context)
    yield from _issue(context)
    for ctas_per_sm, whole in ((1, False), (1, True), (2, True), (4, True)):
        grid = context.sms * ctas_per_sm if whole else 1
        yield from _rings(context, "dram", grid, ctas_per_sm)
    for grid in (1, context.sms):
        yield from _rings(context, "l2", grid, 1)
    yield from _order(context)


def _latency(context: Context) -> Iterator[dict]:
    kernel, copies = context.kernel("tma.cu", "tma_latency"), 256
    places = {
        "l2": (64 * KIB + 128, 4 * MIB),
        "dram": (128 * KIB, MEMORY_RANGE),
        "dram_scattered": (5 * MIB + 64 * KIB, MEMORY_RANGE),
    }
    for size in LATENCY_BYTES:
        for source, (step, span) in places.items():
            args = (context.source, u32(size), u64(step), u64(span), i32(copies))
            launch = context.warm if source == "l2" else context.cold
            cycles = launch(kernel, 1, 32, args, copies, size)[8:]
            yield {
                "kind": "latency",
                "bytes": size,
                "source": source,
                "cycles_median": float(np.median(cycles)),
                "cycles_mean": float(cycles.mean()),
                "cycles_p10": float(np.percentile(cycles, 10)),
                "cycles_p90": float(np.percentile(cycles, 90)),
            }


def _issue(context: Context) -> Iterator[dict]:
    kernel, repeats = context.kernel("tma.cu", "tma_issue"), 16
    for size in (16, 128, KIB, 4 * KIB, 16 * KIB):
        for copies in (1, 2, 4, 8, 16, 32, 64):
            if size * copies > SHARED_PER_SM:
                continue
            args = (context.source, u32(size), i32(copies), i32(repeats))
            stamps = context.warm(kernel, 1, 32, args, 2 * repeats, size * copies).reshape(repeats, 2)
            found = settled(stamps[:, 0])
            yield {
                "kind": "issue",
                "bytes": size,
                "copies": copies,
                **found,
                "cycles_per_copy": found["cycles_median"] / copies,
                "landed_median": float(np.median(stamps[1:, 1])),
            }


def _order(context: Context) -> Iterator[dict]:
    kernel = context.kernel("tma.cu", "tma_order")
    sizes = ((1, 1, 16), (1, 2, 16), (1, 4, 16), (2, 1, 16), (4, 1, 16), (2, 2, 16), (4, 1, 4), (4, 2, 4))
    for ctas_per_sm, copies, size in sizes:
        bytes_ = size * KIB
        grid = context.sms * ctas_per_sm
        shared = max(copies * bytes_, 228 * KIB // (ctas_per_sm + 1))
        args = (context.source, u32(bytes_), i32(copies), np.int64(1 << 15))
        for source, launch in (("l2", context.warm), ("dram", context.cold)):
            stamps = launch(kernel, grid, 32, args, grid * (copies + 1), shared).reshape(grid, copies + 1)
            # CTAs of one SM in the order in which their first copy arrived.
            by_sm = [np.sort(stamps[stamps[:, 0] == sm, 1:], axis=0) for sm in np.unique(stamps[:, 0])]
            whole = np.array([rows for rows in by_sm if len(rows) == ctas_per_sm])
            yield {
                "kind": "order",
                "source": source,
                "bytes": bytes_,
                "ctas_per_sm": ctas_per_sm,
                "copies": copies,
                "arrivals": np.median(whole, axis=0).tolist(),
            }


def _rings(context: Context, source: str, grid: int, ctas_per_sm: int) -> Iterator[dict]:
    kernel = context.kernel("tma.cu", "tma_ring")
    for size in RING_BYTES:
        for outstanding in OUTSTANDING:
            if size * outstanding * ctas_per_sm > SHARED_PER_SM:
                continue
            copies = clamp(2 * GIB // (grid * size), 64, 2048)
            span = L2_RANGE if source == "l2" else MEMORY_RANGE
            args = (context.source, u32(size), i32(outstanding), i32(copies), u64(span))
            launch = context.warm if source == "l2" else context.cold
            stamps = launch(kernel, grid, 32, args, 2 * grid, size * outstanding)
            yield {
                "kind": "ring",
                "bytes": size,
                "outstanding": outstanding,
                "source": source,
                "ctas": grid,
                "ctas_per_sm": ctas_per_sm,
                "copies": copies,
                **per_cta(stamps, grid, copies * size, ctas_per_sm, context.clock_hz),
            }
