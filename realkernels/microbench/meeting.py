"""How much later the slowest warp of a CTA has its data than a typical one: what a barrier behind loads waits for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import MEMORY_RANGE, MIB, Context, i32, spec, u64

SOURCES = ("meeting.cu",)
NOTES = {
    "source": "dram: every line is read once; l2: 1 MiB again and again",
    "pause": "cycles between turns, so that HBM is nearly idle; 0: none",
    "lane_bytes": "loaded by each lane: a warp has 128 or 512 bytes",
    "storing": "whether each warp then writes as many bytes elsewhere",
    "own_cycles": "until a warp's data are there, mean over warps and turns",
    "met_cycles": "until all warps of the CTA have theirs and have met",
    "turn_cycles": "from one turn to the next",
}
TURNS = 300
WARPS = (1, 2, 4, 8, 16)
RANGES = {"l2": MIB, "dram": MEMORY_RANGE}


def built(lane_bytes: int, storing: bool) -> dict[str, int]:
    return {"LANE_BYTES": lane_bytes, "STORING": int(storing)}


def specs() -> list:
    return [spec("meeting.cu", "meeting", **built(lane, storing)) for lane in (4, 16) for storing in (False, True)]


def run(context: Context) -> Iterator[dict]:
    for source, size in RANGES.items():
        for lane, storing, ctas in ((16, False, (1, 2)), (16, True, (1, 2)), (4, False, (2, 4)), (4, True, (2, 4))):
            if storing and source != "dram":
                continue
            for each in ctas:
                yield from _case(context, source, size, lane, storing, each)


def _case(context: Context, source: str, size: int, lane: int, storing: bool, ctas: int) -> Iterator[dict]:
    kernel = context.kernel("meeting.cu", "meeting", **built(lane, storing))
    grid = ctas * context.sms
    for warps in WARPS:
        for pause in (0, 500, 1500):
            args = (context.source, context.target, i32(TURNS), u64(size // lane - 1), i32(pause))
            sums = context.cold(kernel, grid, 32 * warps, args, 3 * grid * warps).reshape(-1, 3)
            own, met, turn = np.mean(sums, axis=0) / TURNS
            yield {
                "source": source,
                "lane_bytes": lane,
                "storing": storing,
                "ctas_per_sm": ctas,
                "warps": warps,
                "pause": pause,
                "own_cycles": float(own),
                "met_cycles": float(met),
                "turn_cycles": float(turn),
            }
