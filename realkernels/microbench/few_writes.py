"""Bandwidth of device memory where few writes are among many reads, or few reads among many writes."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import GIB, Context, spec, u32

SOURCES = ("few_writes.cu",)
NOTES = {
    "ctas": "staying: four on an SM from the first byte to the last; passing: one for each 16 KiB of the many",
    "reads, writes": "of every so many vectors of 16 bytes per lane",
    "bytes_per_s": "reads and writes together, from the median event-to-event time",
}
AT_ONCE = 4
EACH = (1, 2, 4, 8, 16, 32, 64, 128)
"""Turns, or threads, of four vectors of the many for each one of the few."""
SPAN = 3 * GIB
"""Bytes of the many: far beyond what L2 keeps, so that what it holds at the end does not matter."""
SHAPES = {"staying": 512, "passing": 256}
"""Threads of a CTA."""
CTAS_PER_SM, REPEATS = 4, 5


def specs() -> list:
    return [spec("few_writes.cu", ctas, MANY_READS=many) for ctas in SHAPES for many in (1, 0)]


def run(context: Context) -> Iterator[dict]:
    for ctas, block in SHAPES.items():
        piece = 16 * AT_ONCE * block
        grid = context.sms * CTAS_PER_SM if ctas == "staying" else SPAN // piece
        turns = SPAN // (piece * grid) // max(EACH) * max(EACH) if ctas == "staying" else 1
        for many_reads in (1, 0):
            kernel = context.kernel("few_writes.cu", ctas, MANY_READS=many_reads)
            for each in (0, *EACH):
                args = (context.target[-4:], context.source, context.target, u32(turns), u32(each))
                times = time_launch(lambda k=kernel, g=grid, b=block, a=args: k.launch(g, b, a), REPEATS, 1)
                few, many = (1, AT_ONCE * each) if each else (0, 1)
                moved = piece * grid * turns * (1.0 + few / many)
                yield {
                    "ctas": ctas,
                    "reads": many if many_reads else few,
                    "writes": few if many_reads else many,
                    "bytes_per_s": moved / times.median_s,
                }
