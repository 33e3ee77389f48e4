"""L2 read bandwidth of all SMs by footprint."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import GIB, MIB, Context, i32, spec, u64

SOURCES = ("l2.cu",)
NOTES = {
    "footprint_bytes": "read again and again by all SMs together",
    "bytes_per_s": "from the median event-to-event time",
    "bytes_per_cycle": "whole device, SM cycles",
}
FOOTPRINTS = tuple(m * MIB for m in (4, 8, 16, 24, 32, 40, 48, 64))


def specs() -> list:
    return [spec("l2.cu", "l2_read")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("l2.cu", "l2_read")
    for footprint in FOOTPRINTS:
        for ctas_per_sm, block in ((1, 512), (4, 512)):
            passes = 2 * GIB // footprint
            args = (context.target[-1:], context.source, u64(footprint // 16), i32(passes))
            times = time_launch(
                lambda g=context.sms * ctas_per_sm, b=block, a=args: kernel.launch(g, b, a), repeats=5, warmup=1
            )
            rate = footprint * passes / times.median_s
            yield {
                "footprint_bytes": footprint,
                "ctas_per_sm": ctas_per_sm,
                "block": block,
                "passes": passes,
                "seconds": times.median_s,
                "bytes_per_s": rate,
                "bytes_per_cycle": rate / context.clock_hz,
            }
