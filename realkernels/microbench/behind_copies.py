"""Loads from shared memory that are issued behind copies by threads, which the load-store unit takes in first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, L2_RANGE, MEMORY_RANGE, Context, i32, spec, u64

SOURCES = ("behind_copies.cu",)
NOTES = {
    "kind": "what moves the data: cp_async, or ldg (ld.global into registers)",
    "bytes": "of a CTA of 8 warps, alone on its SM, 16 per lane and instruction",
    "offset": "bytes from the start of a line to that of the copy",
    "sms": "that do so",
    "issued_cycles": "from the beginning until the last warp has issued its last copy, median over SMs",
    "shared_cycles": "until the last warp has a word of shared memory that it asked for behind them",
}
THREADS = 256
COUNTS = {"cp_async": (2, 4, 8, 12, 16), "ldg": (2, 4, 8, 12)}
"""Instructions of each thread."""
OFFSETS = (0, 16, 32, 48, 64, 112)
TURNS = 40
SHARED = 200 * KIB


def specs() -> list:
    return [
        spec("behind_copies.cu", "behind_copies", COUNT=count, REGISTERS=int(kind == "ldg"))
        for kind, counts in COUNTS.items()
        for count in counts
    ]


def run(context: Context) -> Iterator[dict]:
    warps = THREADS // 32
    for kind, counts in COUNTS.items():
        for count in counts:
            kernel = context.kernel("behind_copies.cu", "behind_copies", COUNT=count, REGISTERS=int(kind == "ldg"))
            for sms, span in ((1, L2_RANGE), (context.sms, MEMORY_RANGE)):
                for offset in OFFSETS:
                    args = (context.source, u64(span - 1), i32(offset), i32(TURNS))
                    stamps = context.cold(kernel, sms, THREADS, args, 2 * sms * warps, SHARED)
                    issued, shared = np.median(stamps.reshape(sms, warps, 2).max(axis=1), axis=0)
                    yield {
                        "kind": kind,
                        "bytes": 16 * THREADS * count,
                        "offset": offset,
                        "sms": sms,
                        "issued_cycles": float(issued),
                        "shared_cycles": float(shared),
                    }
