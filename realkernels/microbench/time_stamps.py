"""What the time stamps of an instrumented kernel take from the warps that they time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness import probe
from realkernels.microbench.bench import Context, f32, i32, settled, spec

SOURCES = ("time_stamps.cu",)
NOTES = {
    "kind": "loop: around the work of a tile pipeline; row: one behind the other, before a barrier",
    "stamps": "per turn; a turn of a loop is `vectors` shared loads per lane, each with `fma` dependent FMAs of four "
    "components",
    "recorded": "warps of a CTA that write their stamps; the others take them without writing",
    "cycles": "per turn, mean over the warps of all SMs",
}
TURNS = 200
REPEATS = 5
WARPS = (1, 2, 4, 8, 16, 32)
VECTORS = (1, 3)
FMA = (1, 4, 16)
STAMPS = (0, 1, 2)
RECORDED = (0, 1, 7)
VECTOR_BYTES = 16
IN_A_ROW = (0, 1, 2, 4, 8)


def specs() -> list:
    loops = [spec("time_stamps.cu", "time_stamps", STAMPS=count, FMA=fma) for count in STAMPS for fma in FMA]
    return loops + [spec("time_stamps.cu", "stamps_in_a_row", STAMPS=count, FMA=1) for count in IN_A_ROW]


def run(context: Context) -> Iterator[dict]:
    import cupy

    yield from _in_a_row(context)
    capacity = max(STAMPS) * TURNS + 64
    lanes = cupy.zeros(context.sms * probe.LANES_PER_CTA * probe.LANE.itemsize, dtype=cupy.uint8)
    stamps = cupy.zeros(context.sms * probe.LANES_PER_CTA * capacity * probe.STAMP.itemsize, dtype=cupy.uint8)

    def turn(kernel, warps: int, vectors: int, recorded: int) -> dict[str, float]:
        args = (lanes, stamps, i32(capacity), i32(TURNS), i32(vectors), i32(recorded), f32(0.5))
        shared = VECTOR_BYTES * vectors * 32 * warps
        runs = [
            context.stamps(kernel, context.sms, 32 * warps, args, context.sms * warps, shared).mean() / TURNS
            for _ in range(REPEATS)
        ]
        return settled(np.array(runs))

    for fma in FMA:
        for vectors in VECTORS:
            for warps in WARPS:
                for count in STAMPS:
                    kernel = context.kernel("time_stamps.cu", "time_stamps", STAMPS=count, FMA=fma)
                    for recorded in (n for n in RECORDED if n <= warps and (count or not n)):
                        yield {
                            "kind": "loop",
                            "fma": fma,
                            "vectors": vectors,
                            "warps": warps,
                            "stamps": count,
                            "recorded": recorded,
                            **turn(kernel, warps, vectors, recorded),
                        }


def _in_a_row(context: Context) -> Iterator[dict]:
    import cupy

    nowhere = cupy.zeros(1, dtype=cupy.uint8)
    for count in IN_A_ROW:
        kernel = context.kernel("time_stamps.cu", "stamps_in_a_row", STAMPS=count, FMA=1)
        for warps in WARPS:
            args = (nowhere, nowhere, i32(TURNS))
            runs = [
                context.stamps(kernel, context.sms, 32 * warps, args, context.sms * warps).mean() / TURNS
                for _ in range(REPEATS)
            ]
            yield {"kind": "row", "warps": warps, "stamps": count, "recorded": 0, **settled(np.array(runs))}
