"""Throughput of mbarrier operations on one SM, alone and with arithmetic between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import Context, i32, spec

SOURCES = ("syncs.cu",)
NOTES = {
    "kind": "operations: all warps, one after another; beside: the same with FFMAs of four chains between two of them",
    "op": "arrive (one lane), wait (on a phase that is complete), both",
    "shared": "all warps of a CTA use the same barrier",
    "warps": "of the SM",
    "ffmas": "between two operations, or two pairs of them",
    "cycles_per_operation": "SM cycles for one operation of one warp, all warps together",
}
OPS = ("arrive", "wait", "both")
FFMAS = (0, 8, 16, 32, 64)
TURNS, REPEATS = 64, 5


def specs() -> list:
    return [spec("syncs.cu", "syncs", **defines) for _, _, defines in _cases()]


def _cases() -> Iterator[tuple[str, str, dict[str, int]]]:
    for number, op in enumerate(OPS):
        for shared in (0, 1):
            yield "operations", op, {"OP": number, "SHARED": shared, "FFMAS": 0}
        for ffmas in FFMAS:
            yield "beside", op, {"OP": number, "SHARED": 1, "FFMAS": ffmas}


def run(context: Context) -> Iterator[dict]:
    for kind, op, defines in _cases():
        kernel = context.kernel("syncs.cu", "syncs", **defines)
        for warps in (1, 2, 4, 8, 12, 16, 24, 32) if kind == "operations" else (4, 8, 16, 32):
            stamps = context.stamps(kernel, 1, 32 * warps, (i32(TURNS), i32(REPEATS)), REPEATS)
            operations = TURNS * 8 * warps * (2 if op == "both" else 1)
            about = {"shared": bool(defines["SHARED"])} if kind == "operations" else {"ffmas": defines["FFMAS"]}
            yield {"kind": kind, "op": op, **about, "warps": warps,
                   "cycles_per_operation": float(np.median(stamps[1:])) / operations}  # fmt: skip
