"""How much of what a kernel writes is still in L2 when it ends, by the counters of the device: needs ``ncu``.

The launches are those of ``python -m realkernels.microbench.dirty``, which `run` starts below the profiler.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import MIB, Context, spec, u64
from realkernels.microbench.counters import counted

SOURCES = ("dirty.cu",)
NOTES = {
    "reads, writes": "of 16 bytes per thread and turn, each of other addresses than the others",
    "before": "clean: L2 is full of lines that were only read; same: the same launch ran just before",
    "read_bytes, written_bytes": "by the kernel",
    "dram_read_bytes, dram_written_bytes": "by DRAM while it runs (dram__bytes_read.sum, dram__bytes_write.sum)",
    "seconds": "median event-to-event time of other launches like it, without the profiler",
}
MIXES = ((0, 1), (1, 1), (3, 1), (1, 3))
"""(reads, writes) of a turn."""
SIZES = tuple(size * MIB for size in (4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256))
"""Read and written in all."""
CTAS_PER_SM, BLOCK = 4, 512
CLEAN_BYTES = 256 * MIB
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
REPEATS = 7


def specs() -> list:
    return [spec("dirty.cu", "move", READS=reads, WRITES=writes) for reads, writes in MIXES] + [
        spec("dirty.cu", "read_all", READS=1, WRITES=0)
    ]


def points(context: Context) -> list[tuple[int, int, int]]:
    """(reads, writes, turns) of each pair of launches, in order."""
    turn = context.sms * CTAS_PER_SM * BLOCK * 16
    return [(reads, writes, max(round(size / (reads + writes) / turn), 1)) for reads, writes in MIXES for size in SIZES]


def run(context: Context) -> Iterator[dict]:
    found = iter(counted("dirty", "move", METRICS, flush=False))
    turn = context.sms * CTAS_PER_SM * BLOCK * 16
    for reads, writes, turns in points(context):
        for before in ("clean", "same"):
            counts = next(found)
            flush = partial(_clean, context) if before == "clean" else None
            times = time_launch(partial(_move, context, reads, writes, turns), REPEATS, 1, flush, 150e-6)
            yield {
                "reads": reads,
                "writes": writes,
                "before": before,
                "read_bytes": reads * turns * turn,
                "written_bytes": writes * turns * turn,
                "dram_read_bytes": counts[METRICS[0]],
                "dram_written_bytes": counts[METRICS[1]],
                "seconds": times.median_s,
            }


def launches(context: Context) -> None:
    """Every launch once: L2 full of clean lines, the kernel, and the kernel again."""
    for reads, writes, turns in points(context):
        _clean(context)
        for _ in range(2):
            _move(context, reads, writes, turns)


def _clean(context: Context) -> None:
    kernel = context.kernel("dirty.cu", "read_all", READS=1, WRITES=0)
    args = (context.target, context.source[-CLEAN_BYTES // 4 :], u64(CLEAN_BYTES // 16))
    kernel.launch(context.sms * CTAS_PER_SM, BLOCK, args)


def _move(context: Context, reads: int, writes: int, turns: int) -> None:
    kernel = context.kernel("dirty.cu", "move", READS=reads, WRITES=writes)
    kernel.launch(context.sms * CTAS_PER_SM, BLOCK, (context.target, context.source, u64(turns)))


if __name__ == "__main__":
    launches(Context())
