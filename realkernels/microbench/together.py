"""Copies of two CTAs that share an SM: one after the other, or side by side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, MEMORY_RANGE, Context, i32, spec, u64

SOURCES = ("together.cu",)
NOTES = {
    "unit": "tma: a bulk copy by one thread; cp_async: LDGSTS by 256 threads",
    "busy_sms": "SMs that do this at all; 1: nothing but the unit itself and latency",
    "period_cycles": "from one turn to the next, of two copies; SMs begin at different times",
    "delay_cycles": "from the first CTA's copy to the second's, as asked for",
    "asked_cycles": "when each CTA asks, since the turn began, median over turns and SMs",
    "arrived_cycles": "when each has all its data, the same",
}
TURNS = 120
WARM = 20
"""Turns left out at the start."""
TOTAL_CTAS_PER_SM = 2
SHARED = 80 * KIB
"""Enough that no third CTA finds room."""
BYTES = (16 * KIB, 32 * KIB, 64 * KIB)
DELAYS = (0, 150, 300, 600, 1200)
ALONE_PERIOD = 20000
LOADS = (0.5, 0.8, 0.95)
"""Of HBM, by all SMs."""
SHARE = 16.5
"""Bytes a clock of HBM that an SM gets."""
SETTLED = 2000
"""Cycles a copy takes at least when many ask; a shorter period would let turns pile up."""
UNITS = {"tma": 1, "cp_async": 0}


def specs() -> list:
    return [spec("together.cu", "together", BYTES=size, TMA=tma) for size in BYTES for tma in UNITS.values()]


def run(context: Context) -> Iterator[dict]:
    import cupy

    seats = cupy.zeros(1 << 10, dtype=cupy.uint32)
    grid = TOTAL_CTAS_PER_SM * context.sms
    for unit, tma in UNITS.items():
        for size in BYTES:
            kernel = context.kernel("together.cu", "together", BYTES=size, TMA=tma)
            loaded = (int(TOTAL_CTAS_PER_SM * size / SHARE / load) for load in LOADS)
            shapes = [(1, ALONE_PERIOD), *((context.sms, period) for period in loaded if period > SETTLED)]
            for busy, period in shapes:
                for delay in (d for d in DELAYS if d < period / 2):
                    seats.fill(0)
                    args = (seats, context.source, u64(MEMORY_RANGE - 1), i32(TURNS), np.int64(period), i32(delay))
                    stamps = context.cold(kernel, grid, 256, (*args, i32(busy)), 3 * grid * TURNS, SHARED)
                    rows = stamps.reshape(grid, TURNS, 3)[:, WARM:]
                    rows = rows[rows[:, 0, 1] != 0]
                    seat = rows[:, 0, 2] % 2
                    asked, arrived = (
                        [float(np.median(rows[seat == s, :, column])) for s in (0, 1)] for column in (0, 1)
                    )
                    yield {
                        "unit": unit,
                        "bytes": size,
                        "busy_sms": busy,
                        "period_cycles": period,
                        "delay_cycles": delay,
                        "asked_cycles": asked,
                        "arrived_cycles": arrived,
                    }
