"""Copies from DRAM of all SMs at the same time, and others right behind: how much of these comes first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, MEMORY_RANGE, Context, i32, spec, u64

SOURCES = ("overtaking.cu",)
NOTES = {
    "unit": "ldg: LDG.128 by 256 threads; cp_async: LDGSTS.128 by 256 threads; tma: a bulk copy by one thread",
    "ctas_per_sm": "CTAs of an SM, of which one after the other asks; all SMs begin at the same time",
    "copies": "of each CTA, one behind the other",
    "delay_cycles": "from one CTA's first copy to the next one's, and from a CTA's first copy to its second",
    "asked_cycles": "when each copy is asked for, since the turn began, by CTA and copy; median over turns and SMs",
    "arrived_cycles": "when all warps have their parts of it, the same",
    "typical_cycles": "when a warp has its part, the same, median over warps, too",
}
UNITS = {"ldg": 0, "cp_async": 1, "tma": 2}
BYTES = (4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB)
THREADS, WARPS = 256, 8
DELAYS = (0, 150, 300, 600, 1200)
PERIOD_NS = 12_000
"""Long enough that nothing of one turn is under way in the next."""
TURNS = 60
WARM = 10
"""Turns left out at the start."""
SHARED = {1: 120 * KIB, 2: 80 * KIB, 3: 64 * KIB}
"""By CTAs per SM: so much that no more find room."""


def specs() -> list:
    return [_spec(unit, size, copies) for unit in UNITS for size in BYTES for _, copies in _shapes(unit)]


def _shapes(unit: str) -> list[tuple[int, int]]:
    """CTAs per SM and copies of each. The compiler moves a second copy into registers behind the wait for the first."""
    return [(1, 1), (2, 1), (3, 1), *([(1, 2)] if unit != "ldg" else [])]


def _spec(unit: str, size: int, copies: int):  # noqa: ANN202 - as `spec`
    return spec("overtaking.cu", "overtaking", BYTES=size, COPIES=copies, UNIT=UNITS[unit])


def run(context: Context) -> Iterator[dict]:
    for unit in UNITS:
        for size in BYTES:
            for ctas, copies in _shapes(unit):
                for delay in DELAYS if ctas * copies > 1 else (0,):
                    yield _row(context, unit, size, ctas, copies, delay)


def _row(context: Context, unit: str, size: int, ctas: int, copies: int, delay: int) -> dict:
    import cupy

    kernel = context.kernel("overtaking.cu", "overtaking", **_spec(unit, size, copies).defines)
    grid, stamps = ctas * context.sms, 2 + WARPS
    seats, begin = cupy.zeros(1 << 10, dtype=cupy.uint32), cupy.zeros(1, dtype=cupy.uint64)
    args = (seats, begin, context.source, u64(MEMORY_RANGE - 1), i32(TURNS), u64(PERIOD_NS), i32(delay))
    found = context.cold(kernel, grid, THREADS, args, stamps * grid * TURNS * copies, SHARED[ctas])
    rows = found.reshape(grid, TURNS, copies, stamps)[:, WARM:]
    seat = rows[:, 0, 0, -1] % 4
    each = [rows[seat == s, :, copy] for s in range(ctas) for copy in range(copies)]
    return {
        "unit": unit,
        "bytes": size,
        "ctas_per_sm": ctas,
        "copies": copies,
        "delay_cycles": delay,
        "asked_cycles": [float(np.median(one[..., 0])) for one in each],
        "arrived_cycles": [float(np.median(one[..., 1:-1].max(axis=-1))) for one in each],
        "typical_cycles": [float(np.median(one[..., 1:-1])) for one in each],
    }
