"""Barriers of several CTAs of an SM at the same time: what the unit that all of them share can do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import Context, i32, spec

SOURCES = ("barrier_unit.cu",)
NOTES = {
    "warps": "of a CTA",
    "ctas_per_sm": "all SMs are full",
    "cycles": "SM cycles for one barrier of each CTA: from the first that begins to the last that ends, over the "
    "barriers; median over SMs, from the difference of two lengths",
}
SHAPES = tuple((warps, ctas) for warps in (1, 2, 4, 8, 16, 32) for ctas in (1, 2, 4, 8, 16) if warps * ctas <= 64)
UNROLLED, SHORT, LONG = 16, 50, 150


def specs() -> list:
    return [spec("barrier_unit.cu", "barrier_unit")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("barrier_unit.cu", "barrier_unit")
    for warps, ctas in SHAPES:
        grid, cycles = context.sms * ctas, []
        for turns in (SHORT, LONG):
            sm, begins, ends = context.warm(kernel, grid, 32 * warps, (i32(turns),), 3 * grid).reshape(grid, 3).T
            cycles.append(float(np.median([ends[sm == one].max() - begins[sm == one].min() for one in np.unique(sm)])))
        yield {"warps": warps, "ctas_per_sm": ctas, "cycles": (cycles[1] - cycles[0]) / (LONG - SHORT) / UNROLLED}
