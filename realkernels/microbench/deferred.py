"""What of a CTA barrier passes beside arithmetic, and what does not: no bench that sets a number."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from realkernels.microbench.bench import Context, f32, i32, spec

SOURCES = ("deferred.cu",)
NOTES = {
    "kind": "what stands behind the arithmetic: nothing, barrier, st.shared of 16 bytes a lane, st.shared and barrier",
    "code": "ffma: FFMAs; integer: funnel shifts; in four chains, of each warp between two barriers",
    "count": "how many of them",
    "unrolled": "steps between two branches: with one a branch stands behind the barrier",
    "warps": "of one CTA on the device",
    "cycles": "SM cycles from one barrier to the next, first warp's begin to last warp's end",
}
KINDS = ("nothing", "barrier", "store", "store, barrier")
CHAINS, EACH = 4, (1, 4, 16, 64)
WARPS = (1, 2, 4, 8, 12, 16, 32)
STEPS, REPEATS = 4000, 3


def variants() -> Iterator[tuple[str, str, int, int]]:
    """Kind, code, steps of each chain, unrolled."""
    for kind, each in product(KINDS, EACH):
        yield kind, "ffma", each, 8
    for kind, each in product(KINDS[:2], EACH):
        yield kind, "integer", each, 8
        yield kind, "ffma", each, 1


def _defines(kind: str, code: str, each: int, unrolled: int) -> dict[str, int]:
    return {"KIND": KINDS.index(kind), "INTEGER": int(code == "integer"), "EACH": each, "UNROLLED": unrolled}


def specs() -> list:
    return [spec("deferred.cu", "deferred", **_defines(*variant)) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for (kind, code, each, unrolled), warps in product(variants(), WARPS):
        kernel = context.kernel("deferred.cu", "deferred", **_defines(kind, code, each, unrolled))
        args = (i32(STEPS // unrolled), f32(0.99), f32(0.01))
        spans = []
        for _ in range(REPEATS):
            stamps = context.stamps(kernel, 1, 32 * warps, args, 2 * warps).reshape(-1, 2)
            spans.append(stamps[:, 1].max() - stamps[:, 0].min())
        yield {
            "kind": kind,
            "code": code,
            "count": CHAINS * each,
            "unrolled": unrolled,
            "warps": warps,
            "cycles": float(np.median(spans)) / STEPS,
        }
