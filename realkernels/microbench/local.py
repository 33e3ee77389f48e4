"""Local memory, where registers are spilled to: what is read again after it was written, and after nothing was."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("local.cu",)
NOTES = {
    "op": "of each turn: loads, stores, or loads and then stores of the same values",
    "apart": "each value is loaded and stored before the next one is loaded",
    "values": "of 4 bytes per thread, 128 bytes of a warp",
    "warps": "of the one CTA on each SM",
    "shared_kib": "shared memory of the CTA, which L1 has less",
    "pause": "cycles between the turns",
    "cycles": "SM cycles of one turn, the pause included, median over SMs",
}
OPS = {1: "load", 2: "store", 3: "both"}
KINDS = ((1, 0), (2, 0), (3, 0), (3, 1))
"""(OP, APART)."""
VALUES = (1, 4, 10, 16, 32, 64)
WARPS = (1, 4, 8, 16)
SHARED_KIB = (0, 100, 224)
TURNS, PAUSE = 100, 2000


def specs() -> list:
    return [
        spec("local.cu", "local_turns", OP=op, VALUES=values, APART=apart) for op, apart in KINDS for values in VALUES
    ]


def run(context: Context) -> Iterator[dict]:
    for op, apart in KINDS:
        for values in VALUES:
            kernel = context.kernel("local.cu", "local_turns", OP=op, VALUES=values, APART=apart)
            for warps in WARPS:
                for shared_kib in SHARED_KIB:
                    for pause in (0, PAUSE):
                        args, shared = (i32(TURNS), np.int64(pause), i32(0)), shared_kib * KIB
                        stamps = context.warm(kernel, context.sms, 32 * warps, args, context.sms, shared)
                        yield {
                            "op": OPS[op],
                            "apart": bool(apart),
                            "values": values,
                            "warps": warps,
                            "shared_kib": shared_kib,
                            "pause": pause,
                            "cycles": float(np.median(stamps)) / TURNS,
                        }
