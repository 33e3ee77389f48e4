"""Bulk copies issued by one lane or by many, alone and while other warps compute."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels.microbench.bench import Context, i32, settled, spec, u32

SOURCES = ("elected.cu",)
NOTES = {
    "copies": "for one mbarrier, which was told of all their bytes, issued and not waited for",
    "lanes": "of one warp that issue them, each in turn",
    "warps": "of the CTA that compute beside it: FFMAs of eight chains",
    "cycles_median": "until the last of them is issued",
    "cycles_per_copy": "cycles_median / copies",
}
BYTES, REPEATS = 128, 16
WARPS, LANES, COPIES = (0, 4, 8, 16), (1, 8, 32), (32, 64)


def specs() -> list:
    return [spec("elected.cu", "elected")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("elected.cu", "elected")
    for warps, lanes, copies in product(WARPS, LANES, COPIES):
        args = (context.source, u32(BYTES), i32(copies), i32(lanes), i32(REPEATS))
        stamps = context.warm(kernel, 1, 32 * (1 + warps), args, REPEATS, BYTES * copies)
        found = settled(stamps)
        yield {
            "warps": warps,
            "lanes": lanes,
            "copies": copies,
            **found,
            "cycles_per_copy": found["cycles_median"] / copies,
        }
