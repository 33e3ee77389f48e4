"""Values side by side that several instructions of one thread read or write: how often their sectors pass.

What the launches of ``python -m realkernels.microbench.structs`` move is counted below Nsight Compute (``ncu``).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import GIB, Context, spec
from realkernels.microbench.counters import counted

SOURCES = ("structs.cu",)
NOTES = {
    "width, count": "each thread has so many values of so many bytes behind each other, one instruction each",
    "read, write": "none, structs (the values of a thread side by side), dense (those of a warp), one (a single value "
    "of each thread, dense, of which it makes what it writes), apart (the same behind long arithmetic, so that warps "
    "come to their stores one at a time)",
    "seconds": "median event-to-event time; 1 GiB is read, written or both (of one: a part of it read)",
    "bytes_per_s": "read and written",
    "counters": "bytes from and to DRAM and to L2 of one launch, over those wanted; null without ncu",
}
LAYOUTS = ("none", "structs", "dense", "one", "apart")
WIDTHS, COUNTS = (4, 8, 16), (2, 4, 8)
PAIRS = ((1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2), (4, 1))
PARTS = {"none": 0.0, "structs": 1.0, "dense": 1.0}
"""Of the bytes, that are read."""
BYTES, BLOCK, REPEATS = GIB, 256, 5
LONG = 512
"""Multiplications, each of which waits for the one before."""
METRICS = {
    "dram_read": "dram__bytes_read.sum",
    "dram_written": "dram__bytes_write.sum",
    "l1_to_l2": "l1tex__m_l1tex2xbar_write_bytes.sum",
    "l2_written": "lts__t_sectors_op_write.sum",
    "l2_read": "lts__t_sectors_op_read.sum",
}


def variants() -> list[dict[str, int]]:
    return [
        {"WIDTH": width, "COUNT": count, "READ": read, "WRITE": write, "LONG": LONG}
        for width in WIDTHS
        for count in COUNTS
        for read, write in PAIRS
    ]


def specs() -> list:
    return [spec("structs.cu", "structs", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    try:
        found = counted("structs", "structs", list(METRICS.values()), flush=True)
    except (OSError, subprocess.SubprocessError):
        found = [None] * len(variants())
    for variant, counts in zip(variants(), found, strict=True):
        read, write = LAYOUTS[variant["READ"]], LAYOUTS[variant["WRITE"]]
        times = time_launch(lambda chosen=variant: _launch(context, chosen), REPEATS, 1, context.flush)
        yield {
            "width": variant["WIDTH"],
            "count": variant["COUNT"],
            "read": read,
            "write": write,
            "seconds": times.median_s,
            "bytes_per_s": (PARTS.get(read, 1.0 / variant["COUNT"]) + (write != "none")) * BYTES / times.median_s,
            "counters": counts and {name: counts.get(metric, 0.0) / BYTES for name, metric in METRICS.items()},
        }


def _launch(context: Context, variant: dict[str, int]) -> None:
    kernel = context.kernel("structs.cu", "structs", **variant)
    kernel.launch(BYTES // (variant["WIDTH"] * variant["COUNT"] * BLOCK), BLOCK, (context.source, context.target))


def launches(context: Context) -> None:
    """Every launch once."""
    for variant in variants():
        _launch(context, variant)


if __name__ == "__main__":
    launches(Context())
