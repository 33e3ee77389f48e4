"""Which scheduler each warp of a CTA issues on, when several CTAs share an SM."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, f32, i32, spec

SOURCES = ("placement.cu",)
NOTES = {
    "warps": "per CTA",
    "slots": "hardware warp slots of each CTA of one SM, CTAs in order of arrival; slot modulo 4 is the scheduler",
    "patterns": "how many SMs have this pattern of slots",
    "cycles_per_instruction": "FFMA loop, slowest warp of the device, per instruction of one warp",
    "cycles_median": "the same, median warp",
}
TURNS = 64
BODY = 256
SETTLE = 20_000
SHARED_PER_SM = 228 * KIB


def specs() -> list:
    return [spec("placement.cu", "placement")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("placement.cu", "placement")
    for ctas in (1, 2, 3, 4, 6, 8):
        # Just over what would let one more CTA in.
        shared = SHARED_PER_SM // (ctas + 1) if ctas > 1 else 120 * KIB
        for warps in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 14, 15):
            if ctas * warps > 60:
                continue
            grid = ctas * context.sms
            args = (f32(0.999), f32(0.001), i32(TURNS), i32(SETTLE))
            out = context.stamps(kernel, grid, 32 * warps, args, 3 * grid * warps, shared)
            sms, slots, cycles = out.reshape(grid, warps, 3).transpose(2, 0, 1)
            patterns: dict[tuple, int] = {}
            for sm in range(context.sms):
                mine = slots[sms[:, 0] == sm]
                key = tuple(tuple(int(slot) for slot in cta) for cta in mine)
                patterns[key] = patterns.get(key, 0) + 1
            pattern, count = max(patterns.items(), key=lambda item: item[1])
            yield {
                "ctas_per_sm": ctas,
                "warps": warps,
                "slots": pattern,
                "patterns": [count, len(patterns)],
                "cycles_per_instruction": float(cycles.max()) / (TURNS * BODY),
                "cycles_median": float(np.median(cycles)) / (TURNS * BODY),
            }
