"""Small copies to and from the host beside kernels that keep device memory busy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from realkernels._harness.compile import KernelSpec
from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import GIB, KIB, MIB, Context, spec, u32
from realkernels.microbench.host_lab import D2H, H2D, Lab

SOURCES = ("few_writes.cu",)
NOTES = {
    "reads, writes": "of every so many vectors of 16 bytes that the kernel moves; 0 of both without one",
    "ctas": "of the kernel, of 512 threads, that stay from its first byte to its last",
    "bytes_per_s": "reads and writes of the kernel together, when it runs alone",
    "bytes_under_way": "of the vectors that all its threads ask for at once",
    "h2d_s, d2h_s": "per copy of `bytes`, of 150 that are all queued before the first begins, beside the kernel",
}
AT_ONCE, BLOCK = 4, 512
SPAN = 2 * GIB
BYTES, COPIES, REPEATS = 16 * KIB, 150, 3
EACH = (0, 1, 2, 8)
CTAS_PER_SM = (4.0, 1.0, 0.5, 0.25)
LAUNCHES = 6
"""Of the kernel, so that it lasts longer than the copies."""
HEAD_START_S = 2e-3


def specs() -> list:
    return [_spec(many_reads) for many_reads in (1, 0)]


def _spec(many_reads: int) -> KernelSpec:
    return spec("few_writes.cu", "staying", MANY_READS=many_reads)


def run(context: Context) -> Iterator[dict]:
    lab = Lab(64 * MIB)
    yield {
        "reads": 0,
        "writes": 0,
        "ctas": 0,
        "bytes": BYTES,
        "bytes_under_way": 0,
        "bytes_per_s": 0.0,
        **_copies(lab, lambda: None),
    }
    for many_reads in (1, 0):
        kernel = context.kernel("few_writes.cu", "staying", **dict(_spec(many_reads).defines))
        for each in EACH:
            few, many = (1, AT_ONCE * each) if each else (0, 1)
            for per_sm in CTAS_PER_SM:
                grid = int(per_sm * context.sms)
                turns = SPAN // (16 * AT_ONCE * BLOCK * grid) // max(EACH) * max(EACH)
                args = (context.target[-4:], context.source, context.target, u32(turns), u32(each))

                def work(k=kernel, g=grid, a=args) -> None:
                    k.launch(g, BLOCK, a)

                moved = 16 * AT_ONCE * BLOCK * grid * turns * (1.0 + few / many)
                yield {
                    "reads": many if many_reads else few,
                    "writes": few if many_reads else many,
                    "ctas": grid,
                    "bytes": BYTES,
                    "bytes_under_way": 16 * AT_ONCE * BLOCK * grid,
                    "bytes_per_s": moved / time_launch(work, REPEATS, 1).median_s,
                    **_copies(lab, work),
                }


def _copies(lab: Lab, work: Callable[[], None]) -> dict[str, float]:
    """Seconds of a copy each way beside launches of ``work``."""
    event, elapsed = lab.cupy.cuda.Event, lab.cupy.cuda.get_elapsed_time
    stream, beside = lab.streams(2)
    seconds = {}
    for name, kind in (("h2d_s", H2D), ("d2h_s", D2H)):
        runs = []
        for _ in range(1 + REPEATS):
            begin, end = event(), event()
            with lab.released([stream, beside], HEAD_START_S):
                with beside:
                    for _ in range(LAUNCHES):
                        work()
                begin.record(stream)
                for _ in range(COPIES):
                    lab.copy(stream, kind, BYTES)
                end.record(stream)
            runs.append(elapsed(begin, end) * 1e-3 / COPIES)
        seconds[name] = float(np.median(runs[1:]))
    return seconds
