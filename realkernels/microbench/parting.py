"""Lanes of a warp that part ways, as where a tile does not fill its last warp: what coming together again costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from realkernels.microbench.bench import Context, f32, i32, spec

SOURCES = ("parting.cu",)
NOTES = {
    "join": "where the warp comes together again: bsync, at the end of the loop; warpsync, at __syncwarp",
    "fmas": "FFMAs on each of the four elements of a vector",
    "warps": "that compute, of one CTA on the device",
    "vectors": "of 16 bytes per lane and turn",
    "lanes": "of a warp that have the last of them",
    "parted": "warps of which only these lanes have it; the others' all have it",
    "cycles_per_turn": "SM cycles, first warp's begin to last warp's end",
}
JOINS = ("bsync", "warpsync")
FMAS = (0, 4, 16, 64)
WARPS = (1, 4, 8, 16)
VECTORS = (1, 2)
LANES = (32, 16, 1, 0)
TURNS, REPEATS = 1024, 5


def specs() -> list:
    return [spec("parting.cu", "parting", JOIN=join, FMAS=fmas) for join in range(len(JOINS)) for fmas in FMAS]


def run(context: Context) -> Iterator[dict]:
    for join, fmas, warps in product(range(len(JOINS)), FMAS, WARPS):
        kernel = context.kernel("parting.cu", "parting", JOIN=join, FMAS=fmas)
        for vectors, lanes, parted in _cases(warps):
            args = (i32(TURNS), i32(vectors), i32(lanes), i32(parted), f32(0.999), f32(0.001))
            found = [_span(context, kernel, warps, args) for _ in range(REPEATS)]
            yield {
                "join": JOINS[join],
                "fmas": fmas,
                "warps": warps,
                "vectors": vectors,
                "lanes": lanes,
                "parted": parted,
                "cycles_per_turn": float(np.median(found)) / TURNS,
            }


def _cases(warps: int) -> Iterator[tuple[int, int, int]]:
    for vectors in VECTORS:
        for lanes in LANES:
            for parted in (0,) if lanes == 32 else sorted({1, warps}):
                yield vectors, lanes, parted


def _span(context: Context, kernel: object, warps: int, args: tuple) -> int:
    shared = 4 * 512 * warps
    stamps = context.stamps(kernel, 1, 32 * (warps + 1), args, 2 * warps, shared).reshape(-1, 2)
    return int(stamps[:, 1].max() - stamps[:, 0].min())
