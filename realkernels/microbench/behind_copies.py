"""Loads from shared memory that are issued behind copies by threads, which the load-store unit takes in first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, L2_RANGE, MEMORY_RANGE, MIB, Context, i32, spec, u64

SOURCES = ("behind_copies.cu",)
NOTES = {
    "kind": "what moves the data: cp_async, or ldg (ld.global into registers)",
    "bytes": "of a CTA of 8 warps, alone on its SM, 16 per lane and instruction",
    "offset": "bytes from the start of a line to that of the copy",
    "row": "bytes of a row, 0: no rows; rows lie 4 KiB apart in global memory",
    "pitch": "bytes from one to the next in shared memory",
    "sms": "that do so",
    "issued_cycles": "from the beginning until the last warp has issued its last copy, median over SMs",
    "shared_cycles": "until the last warp has a word of shared memory that it asked for behind them",
    "first_shared_cycles": "until the first warp has",
}
THREADS = 256
WARPS = THREADS // 32
COUNTS = {"cp_async": (2, 4, 8, 12, 16), "ldg": (2, 4, 8, 12)}
"""Instructions of each thread."""
OFFSETS = (0, 16, 32, 48, 64, 112)
ROWS = ((64, 64), (64, 80), (64, 96), (128, 128), (128, 144))
"""(row, pitch)."""
ROW_COUNTS = (2, 4, 8, 12)
ROW_RANGE = 4 * MIB
"""Rows of all SMs are in L2 from the second turn on."""
TURNS = 40
SHARED = 200 * KIB


def specs() -> list:
    return [spec("behind_copies.cu", "behind_copies", **case) for case, _ in cases()]


def cases() -> Iterator[tuple[dict[str, int], list[tuple[str, int]]]]:
    """Compile-time constants of each kernel, and (kind, offset) of what it is run with."""
    for kind, counts in COUNTS.items():
        for count in counts:
            case = {"COUNT": count, "REGISTERS": int(kind == "ldg"), "ROW": 0, "PITCH": 0}
            yield case, [(kind, offset) for offset in OFFSETS]
    for row, pitch in ROWS:
        for count in ROW_COUNTS:
            yield {"COUNT": count, "REGISTERS": 0, "ROW": row, "PITCH": pitch}, [("cp_async", 0)]


def run(context: Context) -> Iterator[dict]:
    for case, how in cases():
        kernel = context.kernel("behind_copies.cu", "behind_copies", **case)
        for sms, span in ((1, L2_RANGE), (context.sms, ROW_RANGE if case["ROW"] else MEMORY_RANGE)):
            for kind, offset in how:
                args = (context.source, u64(span - 1), i32(offset), i32(TURNS))
                count = 2 * sms * WARPS
                stamps = context.cold(kernel, sms, THREADS, args, count, SHARED).reshape(sms, WARPS, 2)
                issued, shared = np.median(stamps.max(axis=1), axis=0)
                yield {
                    "kind": kind,
                    "bytes": 16 * THREADS * case["COUNT"],
                    "offset": offset,
                    "row": case["ROW"],
                    "pitch": case["PITCH"],
                    "sms": sms,
                    "issued_cycles": float(issued),
                    "shared_cycles": float(shared),
                    "first_shared_cycles": float(np.median(stamps[:, :, 1].min(axis=1))),
                }
