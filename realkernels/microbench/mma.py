"""Tensor cores by mma.sync: rate and latency of m16n8k16 (f16), alone and beside FFMAs."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, f32, i32, settled, spec

SOURCES = ("mma.cu",)
NOTES = {
    "chains": "independent accumulators of a warp",
    "ffmas": "FFMAs between two products, of eight chains",
    "cycles_per_mma": "SM cycles of one scheduler per product; minimum over repeats",
    "cycles_per_mma_median": "the same, median",
}
CHAINS, WARPS_PER_SCHEDULER, BODY, TURNS, REPEATS = (1, 2, 4, 8), (1, 2, 3, 4, 8), 64, 32, 5


def _variants() -> Iterator[dict]:
    for chains in CHAINS:
        for ffmas in (0, 4, 16) if chains == CHAINS[-1] else (0,):
            yield {"CHAINS": chains, "BODY": BODY, "FFMAS": ffmas}


def specs() -> list:
    return [spec("mma.cu", "mma_rate", **variant) for variant in _variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in _variants():
        kernel = context.kernel("mma.cu", "mma_rate", **variant)
        for warps in WARPS_PER_SCHEDULER:
            args = (i32(TURNS), f32(0.999), f32(0.001))
            found = settled([context.stamps(kernel, 1, 128 * warps, args, 1)[0] for _ in range(REPEATS + 1)])
            each = TURNS * BODY * warps
            yield {
                "chains": variant["CHAINS"],
                "ffmas": variant["FFMAS"],
                "warps_per_scheduler": warps,
                "cycles_per_mma": found["cycles_min"] / each,
                "cycles_per_mma_median": found["cycles_median"] / each,
            }
