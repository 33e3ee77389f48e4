"""How much later the slowest warp of a CTA has its data than a typical one: what a barrier behind loads waits for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import MEMORY_RANGE, MIB, Context, i32, spec, u64

SOURCES = ("meeting.cu",)
NOTES = {
    "source": "dram: every line is read once; l2: 1 MiB again and again",
    "pause": "cycles between turns, so that HBM is nearly idle; 0: none",
    "own_cycles": "until a warp's 512 bytes are there, mean over warps and turns",
    "met_cycles": "until all warps of the CTA have theirs and have met",
}
TURNS = 300
WARPS = (1, 2, 4, 8, 16)
RANGES = {"l2": MIB, "dram": MEMORY_RANGE}


def specs() -> list:
    return [spec("meeting.cu", "meeting")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("meeting.cu", "meeting")
    for source, size in RANGES.items():
        for ctas in (1, 2):
            for warps in WARPS:
                for pause in (0, 1500):
                    grid = ctas * context.sms
                    args = (context.source, i32(TURNS), u64(size // 16 - 1), i32(pause))
                    sums = context.cold(kernel, grid, 32 * warps, args, 2 * grid * warps).reshape(-1, 2)
                    own, met = np.mean(sums, axis=0) / TURNS
                    yield {
                        "source": source,
                        "ctas_per_sm": ctas,
                        "warps": warps,
                        "pause": pause,
                        "own_cycles": float(own),
                        "met_cycles": float(met),
                    }
