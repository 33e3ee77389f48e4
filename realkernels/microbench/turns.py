"""How CTAs of one SM take turns when each of them waits for copies and meets at barriers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, L2_RANGE, Context, f32, i32, spec, u32

SOURCES = ("turns.cu",)
NOTES = {
    "copy": "each turn begins with a cp.async of 16 bytes per thread from L2, which is waited for",
    "fmas": "dependent FFMAs on each of four values of a thread, per turn",
    "cycles_per_turn": "from the first turn's end of the first CTA to the last CTA's end, per turn, median over SMs",
    "ends": "mean end of the warps of each CTA of an SM, in the order of their numbers, over the last end",
    "sass_turn": "instructions of a turn, inner loop included once; null without cuobjdump",
    "sass_loop": "instructions of the loop over FFMAs",
}
KINDS = [(copy, fmas) for copy in (0, 1) for fmas in (64, 256)]
"""(COPY, FMAS)."""
RESIDENT = [(2, warps) for warps in (4, 5, 6, 8, 9, 11, 12, 13, 16)]
RESIDENT += [(3, warps) for warps in (4, 5, 6, 8, 9, 10)] + [(4, warps) for warps in (2, 3, 4, 6, 7, 8)]
"""(CTAs per SM, warps per CTA)."""
WORK = 12800
"""FFMAs on each value in all turns."""


def specs() -> list:
    return [spec("turns.cu", "turns", COPY=copy, FMAS=fmas) for copy, fmas in KINDS]


def run(context: Context) -> Iterator[dict]:
    for copy, fmas in KINDS:
        kernel = context.kernel("turns.cu", "turns", COPY=copy, FMAS=fmas)
        loops = [loop.counts for loop in kernel.sass_loops() or [] if loop.counts.get("FFMA")]
        loops.sort(key=lambda counts: sum(counts.values()))
        turns = WORK // fmas
        for ctas, warps in RESIDENT:
            grid = ctas * context.sms
            args = (context.source, u32(L2_RANGE // 16 - 1), i32(turns), f32(0.999), f32(0.001), np.int64(1 << 15))
            shared = max(16 * 32 * warps, 228 * KIB // (ctas + 1))
            stamps = context.warm(kernel, grid, 32 * warps, args, 4 * grid * warps, shared).reshape(-1, 4)
            yield {
                "copy": bool(copy),
                "fmas": fmas,
                "ctas_per_sm": ctas,
                "warps": warps,
                **_turns(stamps, ctas, warps, turns),
                "sass_turn": dict(loops[-1]) if loops else None,
                "sass_loop": dict(loops[0]) if loops else None,
            }


def _turns(stamps: np.ndarray, ctas: int, warps: int, turns: int) -> dict:
    cycles, ends = [], []
    for sm in np.unique(stamps[:, 0]):
        mine = stamps[stamps[:, 0] == sm]
        if len(mine) != ctas * warps:
            continue
        last = float(mine[:, 3].max())
        cycles.append((last - mine[:, 2].min()) / turns)
        ends.append([mine[mine[:, 1] == cta][:, 3].mean() / last for cta in np.unique(mine[:, 1])])
    return {"cycles_per_turn": float(np.median(cycles)), "ends": np.mean(ends, axis=0).tolist()}
