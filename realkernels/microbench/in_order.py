"""Writes by CTAs that come and go, piece after piece, against writes by CTAs that stay and drift apart."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import KIB, MEMORY_RANGE, Context, i32, spec

SOURCES = ("in_order.cu",)
NOTES = {
    "kind": "stay: a grid-stride loop; come_and_go: each CTA has a piece of its own, and there are many of them",
    "copy": "what is written was read; else nothing is read",
    "cta_bytes": "what one CTA writes",
    "bytes_per_s": "written (and read), from the median event-to-event time",
}
BLOCK, UNROLL = 256, 4
TURN_BYTES = 16 * BLOCK * UNROLL
PIECES = tuple(size * KIB for size in (16, 32, 64, 128, 256, 512, 1024))
STAYING = (2, 4, 8)
"""CTAs per SM."""
REPEATS = 5


def specs() -> list:
    return [spec("in_order.cu", "in_order", STRIDE=stride, COPY=copy) for stride in (0, 1) for copy in (0, 1)]


def run(context: Context) -> Iterator[dict]:
    for copy in (0, 1):
        for ctas_per_sm in STAYING:
            grid = context.sms * ctas_per_sm
            yield _measure(context, "stay", copy, grid, MEMORY_RANGE // (grid * TURN_BYTES))
        for piece in PIECES:
            yield _measure(context, "come_and_go", copy, MEMORY_RANGE // piece, piece // TURN_BYTES)


def _measure(context: Context, kind: str, copy: int, grid: int, turns: int) -> dict:
    kernel = context.kernel("in_order.cu", "in_order", STRIDE=int(kind == "stay"), COPY=copy)
    args = (context.source, context.target, i32(turns))
    times = time_launch(lambda: kernel.launch(grid, BLOCK, args), REPEATS, 1)
    return {
        "kind": kind,
        "copy": bool(copy),
        "grid": grid,
        "cta_bytes": turns * TURN_BYTES,
        "seconds": times.median_s,
        "bytes_per_s": grid * turns * TURN_BYTES * (1 + copy) / times.median_s,
    }
