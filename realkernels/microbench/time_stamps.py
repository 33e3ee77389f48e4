"""What the time stamps of an instrumented kernel take from the warps that they time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness import probe
from realkernels._harness.compile import KernelSpec
from realkernels.microbench.bench import Context, f32, i32, settled, spec

SOURCES = ("time_stamps.cu",)
NOTES = {
    "vectors": "of 16 bytes that each thread copies and computes with in a turn",
    "fma": "dependent FMAs of each of a vector's four components",
    "stamps": "per turn: the four steps of a ring of cp.async begin with one, or none does",
    "cycles": "per turn, mean over the warps of all SMs",
}
TURNS = 200
REPEATS = 5
WARPS = (1, 2, 4, 8, 16, 32)
VECTORS = (1, 3)
FMA = (1, 4, 16)
STAMPS = 4
STAGES = 4
VECTOR_BYTES = 16
NO_SM = -1


def specs() -> list:
    return [_spec(fma, stamped) for fma in FMA for stamped in (False, True)]


def _spec(fma: int, stamped: bool) -> KernelSpec:
    return spec("time_stamps.cu", "time_stamps", FMA=fma, **({"STAMPED": 1} if stamped else {}))


def run(context: Context) -> Iterator[dict]:
    import cupy

    lanes = cupy.zeros(context.sms * probe.LANES_PER_CTA * probe.LANE.itemsize, dtype=cupy.uint8)
    nowhere = cupy.zeros(1, dtype=cupy.uint8)
    probing = (lanes, nowhere, i32(probe.AT_ONCE), i32(NO_SM), i32(NO_SM))
    for fma in FMA:
        for vectors in VECTORS:
            for warps in WARPS:
                for stamped in (False, True):
                    kernel = context.kernel("time_stamps.cu", "time_stamps", **dict(_spec(fma, stamped).defines))
                    args = (context.source, i32(TURNS), i32(vectors), f32(0.5), *(probing if stamped else ()))
                    shared = STAGES * VECTOR_BYTES * vectors * 32 * warps
                    runs = [
                        context.stamps(kernel, context.sms, 32 * warps, args, context.sms * warps, shared).mean()
                        for _ in range(REPEATS)
                    ]
                    row = {"fma": fma, "vectors": vectors, "warps": warps, "stamps": STAMPS if stamped else 0}
                    yield {**row, **settled(np.array(runs) / TURNS)}
