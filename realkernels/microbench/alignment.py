"""Bandwidth of bulk copies and cp.async from DRAM when tiles do not start on a line."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import GIB, KIB, MEMORY_RANGE, Context, clamp, i32, per_cta, spec, u32, u64

SOURCES = ("tma.cu", "cpasync.cu")
NOTES = {
    "unit": "tma: bulk copies; lsu: cp.async of 16 bytes per lane",
    "bytes": "size of a copy and distance between neighbours",
    "offset": "of the first copy from a 4 KiB boundary",
    "outstanding": "copies in flight per CTA",
    "bytes_per_s": "whole device, until the slowest CTA is done",
}
SIZES = tuple(
    base + extra
    for base in (4 * KIB, 16 * KIB)
    for extra in (0, 16, 32, 48, 64, 80, 96, 112, 128, 192, 256, 384, 512, 1024, 1040)
)
OTHER_SIZES = (21408, 27552, 25408, 19904, 10688, 7520, 14784, 13088, 9952, 5920, 5024)
WHOLE_SIZES = (5120, 9984, 14848, 19968)
"""Of whole lines, to compare with."""
OFFSETS = (16, 32, 64, 96, 128)


def specs() -> list:
    return [spec("tma.cu", "tma_ring"), spec("cpasync.cu", "cpasync_ring", SIZE=16, IN_FLIGHT=4)]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("tma.cu", "tma_ring")
    sms = context.sms
    cases = [(size, 0, grid, 4) for size in (*SIZES, *OTHER_SIZES) for grid in (sms, 2 * sms)]
    cases += [(size, 0, 2 * sms, outstanding) for size in (*OTHER_SIZES, *WHOLE_SIZES) for outstanding in (2, 8)]
    cases += [(16 * KIB, offset, 2 * sms, 4) for offset in OFFSETS]
    cases += [(size, 0, grid, 4) for size in (16 * KIB, 19904, 8 * KIB) for grid in (33, 66, 100, 120, 131, 133, 200)]
    for size, offset, grid, most in cases:
        ctas_per_sm = -(-grid // sms)
        outstanding = min(most, 220 * KIB // (size * ctas_per_sm))
        copies = clamp(2 * GIB // (grid * size), 64, 2048)
        source = context.source.ravel()[offset // 4 :]
        args = (source, u32(size), i32(outstanding), i32(copies), u64(MEMORY_RANGE))
        stamps = context.cold(kernel, grid, 32, args, 2 * grid, size * outstanding)
        found = per_cta(stamps, grid, copies * size, ctas_per_sm, context.clock_hz)
        yield {
            "unit": "tma",
            "bytes": size,
            "offset": offset,
            "ctas": grid,
            "outstanding": outstanding,
            "copies": copies,
            **found,
        }
    yield from _cp_async(context)


def _cp_async(context: Context) -> Iterator[dict]:
    """Groups of cp.async of 16 bytes per lane, far more in flight than HBM needs."""
    in_flight, grid = 4, context.sms
    kernel = context.kernel("cpasync.cu", "cpasync_ring", SIZE=16, IN_FLIGHT=in_flight)
    for warps in (4, 8, 16):
        for size in (8 * KIB, 16 * KIB, 32 * KIB):
            for offset in (0, *OFFSETS[:-1], 48):
                copies, groups = size // (warps * 512), clamp(GIB // (grid * size), 32, 1024)
                source = context.source.ravel()[offset // 4 :]
                args = (source, i32(copies), i32(groups), u64(MEMORY_RANGE))
                stamps = context.cold(kernel, grid, 32 * warps, args, 2 * grid, in_flight * size)
                yield {
                    "unit": "lsu",
                    "bytes": size,
                    "offset": offset,
                    "warps": warps,
                    "ctas": grid,
                    "outstanding": in_flight,
                    "copies": groups,
                    **per_cta(stamps, grid, groups * size, 1, context.clock_hz),
                }
