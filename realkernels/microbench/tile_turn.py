"""What entering and leaving a short loop over vectors costs, once per tile."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, f32, i32, settled, spec, u32

SOURCES = ("tile_turn.cu",)
NOTES = {
    "mode": "bits: 1 wait on an open mbarrier, 2 arrival of one lane, 4 __syncthreads, each turn",
    "vectors": "vectors of 16 bytes per thread and turn",
    "warps": "of the CTA",
    "cycles_per_turn": "SM cycles, all warps",
    "sass_turn": "instructions of the loop over tiles, inner loop included once; null without cuobjdump",
    "sass_vector": "instructions of the loop over vectors",
}
FMAS = (0, 1, 16)
MODES = (0, 3, 4)
VECTORS = (0, 1, 2, 3, 4, 8)
WARPS = (1, 4, 8, 12, 16)
TURNS, REPEATS = 1024, 5


def specs() -> list:
    return [spec("tile_turn.cu", "tile_turn", MODE=mode, FMAS=fmas) for mode in MODES for fmas in FMAS]


def run(context: Context) -> Iterator[dict]:
    for mode in MODES:
        for fmas in FMAS:
            kernel = context.kernel("tile_turn.cu", "tile_turn", MODE=mode, FMAS=fmas)
            loops = kernel.sass_loops() or []
            inner = min((loop.counts for loop in loops if "LDS.128" in loop.counts),
                        key=lambda counts: sum(counts.values()), default=None)  # fmt: skip
            outer = [loop.counts for loop in loops if "LDS.128" in loop.counts and "CS2R" not in loop.counts]
            turn = max(outer, key=lambda counts: sum(counts.values()), default=None)
            for warps in WARPS:
                for vectors in VECTORS:
                    size = max(vectors, 1) * warps * 512
                    if 4 * size > 200 * 1024:
                        continue
                    args = (i32(TURNS), i32(vectors), u32(size), f32(0.999), f32(0.001), i32(REPEATS))
                    cycles = settled(context.stamps(kernel, 1, 32 * warps, args, REPEATS, 4 * size))
                    yield {
                        "mode": mode,
                        "fmas": fmas,
                        "warps": warps,
                        "vectors": vectors,
                        "cycles_per_turn": cycles["cycles_min"] / TURNS,
                        "sass_turn": turn and dict(turn),
                        "sass_vector": inner and dict(inner),
                    }
