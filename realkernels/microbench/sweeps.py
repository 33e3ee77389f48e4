"""Sweeps over more than L2 holds: none of it is hit at first, and more and more as CTAs drift apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import MIB, Context, i32, spec, u32

SOURCES = ("sweeps.cu",)
NOTES = {
    "footprint_bytes": "read again and again by all SMs together, each time from its start; L2 is empty at first",
    "loads": "in flight per thread, 8 bytes each, past L1",
    "bytes_per_cycle_per_sm": "of each sweep, by the time of the median CTA, median over runs",
    "slowest": "the same by the slowest CTA, of all sweeps",
}
SWEEPS = 30
REPEATS = 3
FOOTPRINTS = tuple(m * MIB for m in (8, 16, 24, 32, 36, 40, 44, 48, 52, 56, 64, 80, 96))
SHAPES = ((1, 768), (4, 1024))
"""Loads and threads of a CTA, of which two share an SM: one waits for latency, one for bandwidth."""
CTAS_PER_SM = 2


def specs() -> list:
    return [spec("sweeps.cu", "sweeps", LOADS=loads) for loads, _ in SHAPES]


def run(context: Context) -> Iterator[dict]:
    grid = CTAS_PER_SM * context.sms
    for loads, threads in SHAPES:
        kernel = context.kernel("sweeps.cu", "sweeps", LOADS=loads)
        turn = 8 * loads * threads * grid
        for footprint in FOOTPRINTS:
            turns = max(1, round(footprint / turn))
            args = (context.source, u32(footprint), i32(SWEEPS), i32(turns))
            runs = [
                context.cold(kernel, grid, threads, args, grid * SWEEPS).reshape(grid, SWEEPS) for _ in range(REPEATS)
            ]
            ends = np.median([np.median(one, axis=0) for one in runs], axis=0)
            each = turn * turns / context.sms
            yield {
                "footprint_bytes": footprint,
                "loads": loads,
                "warps_per_sm": CTAS_PER_SM * threads // 32,
                "bytes_per_cycle_per_sm": [round(float(each / took), 2) for took in np.diff(ends, prepend=0.0)],
                "slowest": float(SWEEPS * each / np.median([one.max() for one in runs])),
            }
