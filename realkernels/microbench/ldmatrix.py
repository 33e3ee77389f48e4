"""Latency and rate of ldmatrix on one SM, for comparison with loads of as many bytes."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import KIB, Context, i32, settled, spec

SOURCES = ("ldmatrix.cu",)
NOTES = {
    "matrices": "8 x 8 numbers of 16 bits each, that one instruction loads; rows of 80 bytes, without bank conflicts",
    "warps": "of the SM; 0: a chain of one warp, each address made of what was loaded before",
    "cycles": "SM cycles per warp instruction; minimum over repeats",
}
TURNS, UNROLLED, REPEATS = 128, 8, 5


def specs() -> list:
    return [spec("ldmatrix.cu", "ldmatrix", MATRICES=matrices) for matrices in (1, 2, 4)]


def run(context: Context) -> Iterator[dict]:
    for matrices in (1, 2, 4):
        kernel = context.kernel("ldmatrix.cu", "ldmatrix", MATRICES=matrices)
        for warps in (0, 1, 4, 8, 16, 32):
            args = (i32(TURNS), i32(not warps))
            block = 32 * max(warps, 1)
            found = settled([context.stamps(kernel, 1, block, args, 1, 24 * KIB)[0] for _ in range(REPEATS + 1)])
            each = TURNS * UNROLLED * max(warps, 1)
            yield {"matrices": matrices, "warps": warps, "cycles": found["cycles_min"] / each}
