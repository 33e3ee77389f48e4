"""What of a CTA barrier passes beside arithmetic: no bench that sets a number, but what the model leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from realkernels.microbench.bench import Context, f32, i32, spec

SOURCES = ("deferred.cu",)
NOTES = {
    "kind": "what stands behind the FFMAs: nothing, barrier, st.shared of 16 bytes a lane, st.shared and barrier",
    "ffmas": "of each warp between two barriers, in four chains",
    "warps": "of one CTA on the device",
    "cycles": "SM cycles from one barrier to the next, first warp's begin to last warp's end",
}
KINDS = ("nothing", "barrier", "store", "store, barrier")
FMAS = (1, 4, 16, 64)
"""In each of four chains."""
WARPS = (1, 2, 4, 8, 12, 16, 32)
TURNS, UNROLLED, REPEATS = 500, 8, 3


def specs() -> list:
    return [spec("deferred.cu", "deferred", KIND=kind, FMAS=fmas) for kind in range(len(KINDS)) for fmas in FMAS]


def run(context: Context) -> Iterator[dict]:
    for kind, fmas, warps in product(range(len(KINDS)), FMAS, WARPS):
        kernel = context.kernel("deferred.cu", "deferred", KIND=kind, FMAS=fmas)
        args = (i32(TURNS), f32(0.99), f32(0.01))
        spans = []
        for _ in range(REPEATS):
            stamps = context.stamps(kernel, 1, 32 * warps, args, 2 * warps).reshape(-1, 2)
            spans.append(stamps[:, 1].max() - stamps[:, 0].min())
        yield {
            "kind": KINDS[kind],
            "ffmas": 4 * fmas,
            "warps": warps,
            "cycles": float(np.median(spans)) / (TURNS * UNROLLED),
        }
