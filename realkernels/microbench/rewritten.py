"""What L2 keeps of lines that all warps read or rewrite again and again, by the counters of the device (``ncu``).

As spilled registers are. The launches are those of ``python -m realkernels.microbench.rewritten``, which `run` starts
below the profiler.
"""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, i32, spec
from realkernels.microbench.counters import counted

SOURCES = ("rewritten.cu",)
NOTES = {
    "op": "what is done with every line: read, or read and written",
    "footprint_bytes": "of the lines of all warps",
    "dram_read, dram_written": "part of the bytes of a turn that DRAM reads and writes (dram__bytes_read.sum, "
    "dram__bytes_write.sum), by the difference between many turns and few",
}
OPS = {"read": 0, "rewrite": 1}
"""WRITE: whether what was read is written back. Stores alone would not do: no warp waits for them, so that some run
ahead and rewrite what is still there."""
LINES = (8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80)
"""Of a warp: about a MiB each on 132 SMs."""
TURNS = (8, 40)
CTAS_PER_SM, BLOCK = 4, 512
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")


def specs() -> list:
    return [spec("rewritten.cu", "rewrite", WRITE=write) for write in OPS.values()]


def points() -> list[tuple[str, int, int]]:
    """(op, lines, turns) of each launch, in order."""
    return [(op, lines, turns) for op in OPS for lines in LINES for turns in TURNS]


def run(context: Context) -> Iterator[dict]:
    found = counted("rewritten", "rewrite", METRICS, flush=True)
    for at in range(0, len(found), 2):
        op, lines, few = points()[at]
        footprint = context.sms * CTAS_PER_SM * BLOCK // 32 * lines * 128
        each = footprint * (points()[at + 1][2] - few)
        read, written = ((found[at + 1][metric] - found[at][metric]) / each for metric in METRICS)
        yield {"op": op, "footprint_bytes": footprint, "dram_read": read, "dram_written": written}


def launches(context: Context) -> None:
    """Every launch once."""
    for op, lines, turns in points():
        kernel = context.kernel("rewritten.cu", "rewrite", WRITE=OPS[op])
        args = (context.source, context.target, i32(lines), i32(turns))
        kernel.launch(context.sms * CTAS_PER_SM, BLOCK, args)


if __name__ == "__main__":
    launches(Context())
