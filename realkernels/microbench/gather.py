"""Loads whose lanes meet in few or many lines, of what L1 holds: how fast they pass the load-store unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec, u32

SOURCES = ("gather.cu",)
NOTES = {
    "lines": "of 128 bytes that the lanes of one load meet in, as many lanes in each",
    "apart": "whether each lane has a bank of its own; if not, lines meet in banks",
    "table": "bytes from which all load, brought in before",
    "warps": "of one CTA, on one SM",
    "cycles_per_load": "SM cycles of one warp's load of 32 words; from the difference of two lengths",
}
LINES, TABLES, WARPS = (1, 2, 4, 8, 16, 32), (16 * KIB, 64 * KIB, 128 * KIB), (8, 32)
LOADS, SHORT, LONG = 8, 100, 400


def variants() -> list[dict[str, int]]:
    return [{"LINES": lines, "APART": apart} for lines in LINES for apart in (0, 1)]


def specs() -> list:
    return [spec("gather.cu", "gather", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in variants():
        kernel = context.kernel("gather.cu", "gather", **variant)
        for table in TABLES:
            for warps in WARPS:
                cycles = []
                for turns in (SHORT, LONG):
                    args = (context.source, u32(table - 1), i32(turns))
                    cycles.append(float(np.median([context.warm(kernel, 1, 32 * warps, args, 1)[0] for _ in range(3)])))
                yield {
                    "lines": variant["LINES"],
                    "apart": bool(variant["APART"]),
                    "table": table,
                    "warps": warps,
                    "cycles_per_load": (cycles[1] - cycles[0]) / ((LONG - SHORT) * LOADS * warps),
                }
