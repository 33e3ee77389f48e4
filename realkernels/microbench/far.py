"""How many random sectors L2 gives to all SMs, from arrays that each half of it has room for, and larger ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import MIB, Context, i32, spec, u64

SOURCES = ("far.cu",)
NOTES = {
    "footprint_bytes": "bytes of the array, nearly all of which L2 holds",
    "sectors_per_cycle": "that all SMs get together, by the median CTA",
}
FOOTPRINTS = tuple(size * MIB for size in (8, 16, 20, 24, 28, 32, 36))
CTAS_PER_SM, BLOCK, LOADS, TURNS = 4, 512, 4, 128


def specs() -> list:
    return [spec("far.cu", "far_sectors")]


def run(context: Context) -> Iterator[dict]:
    kernel, grid = context.kernel("far.cu", "far_sectors"), CTAS_PER_SM * context.sms
    for footprint in FOOTPRINTS:
        args = (context.source, u64(footprint // 32), i32(TURNS))
        cycles = context.warm(kernel, grid, BLOCK, args, grid)
        sectors = grid * BLOCK // 2 * LOADS * TURNS
        yield {"footprint_bytes": footprint, "sectors_per_cycle": sectors / float(np.median(cycles))}
