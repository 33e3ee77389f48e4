"""Local memory, where registers are spilled to: what is read again after it was written, and after nothing was."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import KIB, Context, f32, i32, spec

SOURCES = ("local.cu",)
NOTES = {
    "op": "of each turn: loads, stores, or loads and then stores of the same values; spilled: what the compiler makes "
    "of more sums than it has registers for",
    "sass_turn": "instructions of a turn of spilled sums; null without cuobjdump",
    "apart": "each value is loaded and stored before the next one is loaded",
    "values": "of 4 bytes per thread, 128 bytes of a warp",
    "warps": "of the one CTA on each SM",
    "shared_kib": "shared memory of the CTA, which L1 has less",
    "pause": "cycles between the turns",
    "sms": "that run a CTA",
    "cycles": "SM cycles of one turn, the pause included, median over SMs",
    "cycles_mean": "the same, mean over SMs",
    "cycles_slowest": "the same of the slowest SM",
}
OPS = {1: "load", 2: "store", 3: "both"}
KINDS = ((1, 0), (2, 0), (3, 0), (3, 1))
"""(OP, APART)."""
VALUES = (1, 4, 10, 16, 32, 64)
WARPS = (1, 4, 8, 16)
SHARED_KIB = (0, 100, 224)
SUMS = (56, 64, 72, 80, 96, 128)
"""Where there are 64 registers."""
SOME_SMS = (66, 100)
"""Of the SMs, for the rows without pause and with little L1."""
TURNS, PAUSE = 100, 2000


def specs() -> list:
    loops = [
        spec("local.cu", "local_turns", OP=op, VALUES=values, APART=apart) for op, apart in KINDS for values in VALUES
    ]
    return loops + [spec("local.cu", "spilled_turns", SUMS=sums) for sums in SUMS]


def run(context: Context) -> Iterator[dict]:
    for op, apart in KINDS:
        for values in VALUES:
            kernel = context.kernel("local.cu", "local_turns", OP=op, VALUES=values, APART=apart)
            for pause in (0, PAUSE):
                row = {"op": OPS[op], "apart": bool(apart), "values": values, "pause": pause}
                yield from _measured(context, kernel, row, (i32(TURNS), np.int64(pause), i32(0)))
    for sums in SUMS:
        kernel = context.kernel("local.cu", "spilled_turns", SUMS=sums)
        loops = [loop.counts for loop in kernel.sass_loops() or [] if loop.counts.get("FADD")]
        row = {"op": "spilled", "values": sums, "sass_turn": dict(loops[0]) if loops else None}
        yield from _measured(context, kernel, row, (i32(TURNS), f32(1.0)))


def _measured(context: Context, kernel: CompiledKernel, row: dict, args: tuple) -> Iterator[dict]:
    for warps in WARPS:
        for shared_kib in SHARED_KIB:
            fewer = SOME_SMS if shared_kib == SHARED_KIB[-1] and not row.get("pause") else ()
            for sms in (*fewer, context.sms):
                stamps = context.warm(kernel, sms, 32 * warps, args, sms, shared_kib * KIB) / TURNS
                yield row | {
                    "warps": warps,
                    "shared_kib": shared_kib,
                    "sms": sms,
                    "cycles": float(np.median(stamps)),
                    "cycles_mean": float(np.mean(stamps)),
                    "cycles_slowest": float(stamps.max()),
                }
