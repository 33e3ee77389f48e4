"""What entering and leaving a short loop over vectors costs, once per tile."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, f32, i32, spec, u32

SOURCES = ("tile_turn.cu",)
NOTES = {
    "mode": "bits: 1 wait on an open mbarrier, 2 arrival of one lane, 4 __syncthreads, each turn",
    "vectors": "vectors of 16 bytes per thread and turn",
    "warps": "of the CTA",
    "ctas_per_sm": "1: one CTA on the whole device; more: that many on every SM, out of step with each other",
    "cycles_per_turn": "SM cycles, all warps",
    "sass_turn": "instructions of the loop over tiles, inner loop included once; null without cuobjdump",
    "sass_vector": "instructions of the loop over vectors",
}
FMAS = (0, 1, 16, 64)
MODES = (0, 3, 4)
CASES = [(1, warps, vectors) for warps in (1, 4, 8, 12, 16) for vectors in (0, 1, 2, 3, 4, 8)]
CASES += [(ctas, warps, vectors) for ctas in (2, 3, 4) for warps in (2, 4, 8, 12, 16) for vectors in (0, 1, 2, 4, 8)]
"""(CTAs per SM, warps per CTA, vectors per thread)."""
TURNS, REPEATS = 1024, 5


def specs() -> list:
    return [spec("tile_turn.cu", "tile_turn", MODE=mode, FMAS=fmas) for mode in MODES for fmas in FMAS]


def run(context: Context) -> Iterator[dict]:
    for mode in MODES:
        for fmas in FMAS:
            kernel = context.kernel("tile_turn.cu", "tile_turn", MODE=mode, FMAS=fmas)
            loops = kernel.sass_loops() or []
            inner = min((loop.counts for loop in loops if "LDS.128" in loop.counts),
                        key=lambda counts: sum(counts.values()), default=None)  # fmt: skip
            outer = [loop.counts for loop in loops if "LDS.128" in loop.counts and "CS2R" not in loop.counts]
            turn = max(outer, key=lambda counts: sum(counts.values()), default=None)
            about = {"sass_turn": turn and dict(turn), "sass_vector": inner and dict(inner)}
            for ctas, warps, vectors in CASES:
                size = max(vectors, 1) * warps * 512
                shared = max(4 * size, 228 * KIB // (ctas + 1)) if ctas > 1 else 4 * size
                if shared > 200 * KIB // ctas:
                    continue
                grid = ctas * context.sms if ctas > 1 else 1
                args = (i32(TURNS), i32(vectors), u32(size), f32(0.999), f32(0.001), i32(REPEATS))
                stamps = context.stamps(kernel, grid, 32 * warps, args, grid * REPEATS, shared)
                cycles = stamps.reshape(grid, REPEATS)[:, 1:-1]
                yield {
                    "mode": mode,
                    "fmas": fmas,
                    "ctas_per_sm": ctas,
                    "warps": warps,
                    "vectors": vectors,
                    "cycles_per_turn": float(np.median(cycles)) / TURNS,
                    **about,
                }
