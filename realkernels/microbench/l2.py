"""Bandwidth of L2 for all SMs: reads by footprint, and reads beside writes."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.compile import CompiledKernel
from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import GIB, MIB, Context, i32, spec, u64

SOURCES = ("l2.cu", "l2_both.cu")
NOTES = {
    "kind": "read: reads alone; both: streams read and written",
    "reads, writes": "of both: streams of as many bytes each",
    "footprint_bytes": "read again and again by all SMs together, or read and written",
    "bytes_per_s": "from the median event-to-event time",
    "bytes_per_cycle": "whole device, SM cycles",
}
STREAM_BYTES = 5 * MIB
"""About: of each stream that is read or written beside others."""
MIXES = ((1, 0), (3, 1), (2, 1), (1, 1), (1, 2), (1, 3), (0, 1))
RESIDENT = ((1, 512), (2, 512), (4, 512), (8, 256))
FOOTPRINTS = tuple(m * MIB for m in (4, 8, 16, 24, 32, 40, 48, 64))


def specs() -> list:
    both = [spec("l2_both.cu", "l2_both", READS=reads, WRITES=writes) for reads, writes in MIXES]
    return [spec("l2.cu", "l2_read"), *both]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("l2.cu", "l2_read")
    for footprint in FOOTPRINTS:
        for ctas_per_sm, block in ((1, 512), (4, 512)):
            args = (context.target[-1:], context.source, u64(footprint // 16))
            yield {"kind": "read", **_measured(context, kernel, args, footprint, ctas_per_sm, block)}
    for reads, writes in MIXES:
        kernel = context.kernel("l2_both.cu", "l2_both", READS=reads, WRITES=writes)
        for ctas_per_sm, block in RESIDENT:
            threads = context.sms * ctas_per_sm * block
            vectors = STREAM_BYTES // 16 // threads * threads
            args = (context.target[-1:], context.source, context.target, u64(vectors))
            footprint = (reads + writes) * vectors * 16
            row = _measured(context, kernel, args, footprint, ctas_per_sm, block)
            yield {"kind": "both", "reads": reads, "writes": writes, **row}


def _measured(
    context: Context, kernel: CompiledKernel, args: tuple, footprint: int, ctas_per_sm: int, block: int
) -> dict:
    """As many passes over ``footprint`` bytes as make 2 GiB."""
    passes = 2 * GIB // footprint
    grid = context.sms * ctas_per_sm
    times = time_launch(lambda: kernel.launch(grid, block, (*args, i32(passes))), repeats=5, warmup=1)
    rate = footprint * passes / times.median_s
    return {
        "footprint_bytes": footprint,
        "ctas_per_sm": ctas_per_sm,
        "block": block,
        "passes": passes,
        "seconds": times.median_s,
        "bytes_per_s": rate,
        "bytes_per_cycle": rate / context.clock_hz,
    }
