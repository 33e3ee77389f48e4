"""Throughput of mbarrier operations on one SM, and hand-over with several CTAs on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("syncs.cu", "skeleton.cu")
NOTES = {
    "kind": "operations: all warps, one after another; hand_over: producing lane and consumer warps (skeleton.cu)",
    "op": "arrive (one lane), wait (on a phase that is complete), both",
    "shared": "all warps of a CTA use the same barrier",
    "warps": "of all CTAs of the SM; hand_over: consumers of one CTA",
    "cycles_per_operation": "SM cycles for one operation of one warp, all warps together",
    "cycles_per_turn": "SM cycles for one turn of every CTA",
}
OPS = ("arrive", "wait", "both")
TURNS, REPEATS = 64, 5


def specs() -> list:
    found = [spec("syncs.cu", "syncs", OP=op, SHARED=shared) for op in range(3) for shared in (0, 1)]
    return [*found, spec("skeleton.cu", "hand_over", MODE=0, STAGES=1)]


def run(context: Context) -> Iterator[dict]:
    for number, op in enumerate(OPS):
        for shared in (0, 1):
            kernel = context.kernel("syncs.cu", "syncs", OP=number, SHARED=shared)
            for warps in (1, 2, 4, 8, 12, 16, 24, 32):
                stamps = context.stamps(kernel, 1, 32 * warps, (i32(TURNS), i32(REPEATS)), REPEATS)
                cycles = float(np.median(stamps[1:]))
                operations = TURNS * 8 * warps * (2 if op == "both" else 1)
                yield {"kind": "operations", "op": op, "shared": bool(shared), "warps": warps,
                       "cycles_per_operation": cycles / operations}  # fmt: skip
    yield from _hand_over(context)


def _hand_over(context: Context) -> Iterator[dict]:
    kernel, turns = context.kernel("skeleton.cu", "hand_over", MODE=0, STAGES=1), 2048
    for copy in (0, 1):
        for stages in (1, 2, 4, 8):
            for ctas in (1, 2, 3, 4):
                for warps in (1, 2, 4, 8, 12, 16):
                    if ctas * (warps + 1) > 64:
                        continue
                    grid = context.sms * ctas
                    args = (context.source, i32(turns), i32(stages), i32(copy), i32(REPEATS))
                    shared = 228 * KIB // (ctas + 1)
                    if kernel.max_active_ctas(32 * (warps + 1), shared) != ctas:
                        continue
                    stamps = context.stamps(kernel, grid, 32 * (warps + 1), args, grid * REPEATS, shared)
                    # Every CTA writes the same places; the last one stays.
                    yield {"kind": "hand_over", "copy": bool(copy), "stages": stages, "ctas_per_sm": ctas,
                           "warps": warps, "cycles_per_turn": float(np.median(stamps[1:REPEATS])) / turns}  # fmt: skip
