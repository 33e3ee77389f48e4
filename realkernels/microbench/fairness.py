"""How evenly the schedulers serve warps of different age."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, f32, i32, spec

SOURCES = ("fairness.cu",)
NOTES = {
    "chains": "independent chains of FFMAs of a warp; 0: one chain of shuffles",
    "integer": "additions and logic (1), or these and multiplications in turn (2), instead of FFMAs; else 0",
    "loads": "each 64 FFMAs begin with a load from shared memory",
    "halfway": "the loop has a comparison and a branch more, to read the clock half way",
    "first": "cycles until the first warp of an SM is done, median over SMs; last: until the last one is",
    "ctas": "mean end of the warps of each CTA of an SM, in the order of their numbers, over the last end",
    "slots": "mean end of the warps by their number within the scheduler, over the last end",
}
TURNS = 400
FFMAS = ((4, 0, 0), (4, 1, 0), (4, 0, 1), (4, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (0, 0, 0), (0, 0, 1))
KINDS = (*((*kind, 0) for kind in FFMAS), (4, 0, 0, 1), (4, 0, 0, 2))
"""(CHAINS, LOADS, HALFWAY, INTEGER)."""


def specs() -> list:
    return [spec("fairness.cu", "fairness", **_defines(*kind)) for kind in KINDS]


def _defines(chains: int, loads: int, halfway: int, integer: int) -> dict[str, int]:
    return {"CHAINS": chains, "LOADS": loads, "HALFWAY": halfway, "INTEGER": integer}


def run(context: Context) -> Iterator[dict]:
    for chains, loads, halfway, integer in KINDS:
        kernel = context.kernel("fairness.cu", "fairness", **_defines(chains, loads, halfway, integer))
        for ctas, warps in ((1, 4), (1, 8), (1, 16), (2, 4), (2, 8), (2, 14), (2, 16), (3, 8), (4, 4), (4, 8)):
            grid = ctas * context.sms
            args = (i32(TURNS), f32(0.999), f32(0.001), np.int64(1 << 15))
            shared = max(16 * 32 * warps, 228 * KIB // (ctas + 1))
            stamps = context.stamps(kernel, grid, 32 * warps, args, 5 * grid * warps, shared).reshape(-1, 5)
            yield {
                "chains": chains,
                "integer": integer,
                "loads": bool(loads),
                "halfway": bool(halfway),
                "ctas_per_sm": ctas,
                "warps": warps,
                **_spread(stamps, ctas, warps),
            }


def _spread(stamps: np.ndarray, ctas: int, warps: int) -> dict:
    first, last, by_cta, by_slot = [], [], [], []
    for sm in np.unique(stamps[:, 0]):
        mine = stamps[stamps[:, 0] == sm]
        if len(mine) != ctas * warps:
            continue
        ends = mine[:, 4].astype(float)
        first.append(ends.min())
        last.append(ends.max())
        by_cta.append([ends[mine[:, 1] == cta].mean() / ends.max() for cta in np.unique(mine[:, 1])])
        order = np.argsort(mine[:, 2])
        by_slot.append(ends[order].reshape(-1, min(4, len(ends))).mean(axis=1) / ends.max())
    return {
        "first": float(np.median(first)),
        "last": float(np.median(last)),
        "ctas": np.mean(by_cta, axis=0).tolist(),
        "slots": np.mean(by_slot, axis=0).tolist(),
    }
