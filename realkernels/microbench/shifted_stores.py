"""Stores side by side that begin off a line or off a sector: what two stores to one sector take of L2 and of DRAM."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import MIB, Context, spec, u64

SOURCES = ("shifted_stores.cu",)
NOTES = {
    "width": "bytes of a lane and store; warps write 32 times as many, side by side",
    "reads": "whether what is stored is read first, from whole lines",
    "shift": "bytes from a line on, of every warp",
    "run": "stores that a warp puts side by side, right behind each other",
    "kept": "bytes of the target, which stay in L2 (16 MiB) or go on to DRAM",
    "bytes": "that are stored in all",
    "seconds": "median event-to-event time",
}
KERNELS = ((4, 1), (8, 1), (16, 1), (4, 4), (8, 4))
"""(bytes of a lane and store, stores in a row)."""
SHIFTS = (0, 4, 8, 16, 32, 64)
SIZES = ((256 * MIB, 16 * MIB), (256 * MIB, 256 * MIB), (512 * MIB, 512 * MIB))
"""(bytes stored, bytes of the target)."""
CTAS_PER_SM, THREADS, REPEATS = 8, 256, 7


def specs() -> list:
    return [
        spec("shifted_stores.cu", "shifted_stores", WIDTH=width, READS=reads, RUN=run)
        for width, run in KERNELS
        for reads in (0, 1)
    ]


def run(context: Context) -> Iterator[dict]:
    grid = context.sms * CTAS_PER_SM
    for width, stores in KERNELS:
        for reads in (0, 1):
            kernel = context.kernel("shifted_stores.cu", "shifted_stores", WIDTH=width, READS=reads, RUN=stores)
            for shift in (shift for shift in SHIFTS if shift % width == 0):
                target = context.target.view("uint8")[shift:]
                for stored, kept in SIZES:
                    args = (context.source, target, u64(stored // width), u64(kept // width))
                    times = time_launch(lambda k=kernel, a=args: k.launch(grid, THREADS, a), REPEATS, 2)
                    yield {
                        "width": width, "reads": bool(reads), "run": stores, "shift": shift, "kept": kept,
                        "bytes": stored, "seconds": times.median_s,
                    }  # fmt: skip
