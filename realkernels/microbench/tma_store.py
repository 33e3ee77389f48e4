"""Bulk copies from shared to global memory: drain time and throughput."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import (
    GIB,
    KIB,
    MEMORY_RANGE,
    Context,
    clamp,
    i32,
    per_cta,
    spec,
    u32,
    u64,
)

SOURCES = ("tma_store.cu",)
NOTES = {
    "kind": "latency: one store at a time; ring: `outstanding` stores still reading shared memory",
    "read_cycles": "issue to wait_group.read 0: shared memory may be reused",
    "written_cycles": "issue to wait_group 0: data written",
    "bytes_per_cycle_per_sm": "ring: until everything is written",
}
SIZES = tuple(k * KIB for k in (1, 2, 4, 8, 16, 32))
OUTSTANDING = (1, 2, 4)


def specs() -> list:
    return [spec("tma_store.cu", "store_ring", IN_FLIGHT=n) for n in OUTSTANDING]


def run(context: Context) -> Iterator[dict]:
    kernel, copies = context.kernel("tma_store.cu", "store_latency", IN_FLIGHT=1), 128
    for size in (16, 128, 512, *SIZES, 64 * KIB):
        args = (context.target, u32(size), u64(128 * KIB), u64(MEMORY_RANGE), i32(copies))
        stamps = context.cold(kernel, 1, 32, args, 2 * copies, size).reshape(copies, 2)[8:]
        read, written = np.median(stamps, axis=0)
        yield {"kind": "latency", "bytes": size, "read_cycles": float(read), "written_cycles": float(written)}
    for grid in (1, context.sms):
        for size in SIZES:
            for outstanding in OUTSTANDING:
                kernel = context.kernel("tma_store.cu", "store_ring", IN_FLIGHT=outstanding)
                copies = clamp(2 * GIB // (grid * size), 64, 2048)
                args = (context.target, u32(size), i32(copies), u64(MEMORY_RANGE))
                stamps = context.cold(kernel, grid, 32, args, 2 * grid, size * outstanding)
                yield {
                    "kind": "ring",
                    "bytes": size,
                    "outstanding": outstanding,
                    "ctas": grid,
                    "copies": copies,
                    **per_cta(stamps, grid, copies * size, 1, context.clock_hz),
                }
