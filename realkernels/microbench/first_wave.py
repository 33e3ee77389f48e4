"""The first wave of a kernel: how soon after each other the CTAs of an SM begin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("first_wave.cu",)
NOTES = {
    "ctas_per_sm": "in a grid of as many for each SM",
    "warps": "of a CTA",
    "shared_kib": "of a CTA",
    "gap_cycles": "from one CTA's first instruction to the next one's on the same SM: medians over SMs and launches, "
    "first gap first",
}
CTAS_PER_SM = (2, 3, 4, 8, 16)
WARPS = (2, 4, 8, 16, 32)
SHARED_KIB = (0, 16, 100)
MOST_WARPS, MOST_SHARED_KIB = 64, 227
DURATION = 40_000
LAUNCHES = 12


def specs() -> list:
    return [spec("first_wave.cu", "first_wave")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("first_wave.cu", "first_wave")
    for ctas in CTAS_PER_SM:
        for warps in (warps for warps in WARPS if warps * ctas <= MOST_WARPS):
            for shared in (kib for kib in SHARED_KIB if (kib + 1) * ctas <= MOST_SHARED_KIB):
                grid = ctas * context.sms
                gaps = []
                for _ in range(LAUNCHES):
                    stamps = context.stamps(kernel, grid, 32 * warps, (i32(DURATION),), 2 * grid, shared * KIB)
                    began, sm = stamps.reshape(grid, 2).T
                    each = [np.sort(began[sm == number]) for number in np.unique(sm)]
                    gaps.append(np.median([np.diff(found) for found in each if len(found) == ctas], axis=0))
                median = np.median(gaps, axis=0)
                yield {"ctas_per_sm": ctas, "warps": warps, "shared_kib": shared, "gap_cycles": median.tolist()}
