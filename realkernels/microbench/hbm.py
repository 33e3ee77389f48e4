"""Device-memory bandwidth by mix of reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import KIB, MEMORY_RANGE, Context, i32, spec, u32, u64

SOURCES = ("hbm.cu", "tma.cu")
NOTES = {
    "kind": "ldg_stg: 16 bytes per lane, grid-stride; tma: bulk copies of 16 KiB, one outstanding per CTA; "
    "absorbed: stores into an L2 that holds nothing to be written back, by size",
    "reads": "streams read, and writes streams written, of equal size",
    "copy": "what is written was read; else writes do not wait for reads",
    "bytes_per_s": "reads and writes together, from the median event-to-event time",
}
MIXES = ((1, 0, 0), (0, 1, 0), (3, 1, 0), (1, 1, 0), (1, 3, 0), (1, 1, 1))
UNROLL = 4
REPEATS = 5


def specs() -> list:
    found = [spec("hbm.cu", "stream", READS=r, WRITES=w, COPY=c) for r, w, c in MIXES]
    return [*found, spec("tma.cu", "tma_ring")]


def run(context: Context) -> Iterator[dict]:
    for reads, writes, copy in MIXES:
        kernel = context.kernel("hbm.cu", "stream", READS=reads, WRITES=writes, COPY=copy)
        for ctas_per_sm, block in ((2, 512), (4, 512), (8, 256), (64, 256)):
            grid = context.sms * ctas_per_sm
            threads = grid * block
            vectors = MEMORY_RANGE // 16 // max(reads, writes) // (UNROLL * threads) * (UNROLL * threads)
            args = (context.target[-1:], context.source, context.target, u64(vectors))
            times = time_launch(lambda k=kernel, g=grid, b=block, a=args: k.launch(g, b, a), REPEATS, 1)
            moved = 16 * vectors * (reads + writes)
            yield {
                "kind": "ldg_stg",
                "reads": reads,
                "writes": writes,
                "copy": bool(copy),
                "ctas_per_sm": ctas_per_sm,
                "block": block,
                "bytes": moved,
                **_rates(times, moved),
            }
    yield from _bulk(context)
    yield from _absorbed(context)


def _absorbed(context: Context) -> Iterator[dict]:
    """Writes of little, begun with an L2 that holds nothing to be written back."""
    kernel, ctas_per_sm, block = context.kernel("hbm.cu", "stream", READS=0, WRITES=1, COPY=0), 4, 512
    grid = context.sms * ctas_per_sm
    for turns in (1, 2, 4, 8, 16, 32, 64):
        vectors = UNROLL * grid * block * turns
        args = (context.target[-1:], context.source, context.target, u64(vectors))
        times = time_launch(lambda v=args: kernel.launch(grid, block, v), REPEATS, 1, context.flush)
        yield {"kind": "absorbed", "reads": 0, "writes": 1, "copy": False, "ctas_per_sm": ctas_per_sm, "block": block,
               "bytes": 16 * vectors, **_rates(times, 16 * vectors)}  # fmt: skip


def _bulk(context: Context) -> Iterator[dict]:
    import cupy

    kernel, size = context.kernel("tma.cu", "tma_ring"), 16 * KIB
    for ctas_per_sm in (2, 4, 8):
        grid = context.sms * ctas_per_sm
        copies = MEMORY_RANGE // (grid * size)
        out = cupy.zeros(2 * grid, dtype=cupy.int64)
        args = (out, context.source, u32(size), i32(1), i32(copies), u64(MEMORY_RANGE))
        times = time_launch(lambda g=grid, a=args: kernel.launch(g, 32, a, size), REPEATS, 1)
        moved = grid * copies * size
        yield {
            "kind": "tma",
            "reads": 1,
            "writes": 0,
            "copy": False,
            "ctas_per_sm": ctas_per_sm,
            "block": 32,
            "bytes": moved,
            **_rates(times, moved),
        }


def _rates(times, moved: int) -> dict[str, float]:
    return {"seconds": times.median_s, "iqr_s": times.iqr, "bytes_per_s": moved / times.median_s}
