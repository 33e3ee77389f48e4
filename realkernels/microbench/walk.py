"""Warps that load, wait and load again: how unequal single loads are, and how far warps and CTAs drift apart by it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from realkernels.microbench.bench import MEMORY_RANGE, MIB, Context, i32, spec, u64

SOURCES = ("walk.cu",)
NOTES = {
    "source": "dram: every line is read once; l2: 1 MiB again and again",
    "order": "in turn: all warps read consecutive pieces; anywhere; parts: each warp its own, piece by piece",
    "lane_bytes": "loaded by each lane: a piece has 128 or 512 bytes",
    "streams": "pieces that a warp loads and waits for at once, far from each other",
    "meeting": "whether the warps of a CTA meet in every turn",
    "ctas": "of the whole grid",
    "load_cycles": "mean of a warp's waits for its pieces",
    "load_deviation": "their standard deviation",
    "turn_cycles": "from one turn to the next, mean of all warps",
    "warp_deviation": "standard deviation of the ends of warps",
    "cta_cycles": "ends of CTAs (their last warps), mean",
    "cta_deviation": "their standard deviation",
    "last_cycles": "end of the last CTA",
}
REPEATS = 3
FURTHER = 32 * 37
"""Lanes between streams beyond an equal part of the range: so that they do not meet in the same channels."""
ORDERS = ("in turn", "anywhere", "parts")
RANGES = {"l2": MIB, "dram": MEMORY_RANGE}


class Build(NamedTuple):
    """How the kernel is compiled."""

    lane_bytes: int
    order: str
    meeting: bool
    streams: int

    @property
    def defines(self) -> dict[str, int]:
        order, meeting = ORDERS.index(self.order), int(self.meeting)
        return {"LANE_BYTES": self.lane_bytes, "ORDER": order, "MEETING": meeting, "STREAMS": self.streams}


DRIFTING = [Build(*how, 1) for how in product((4, 16), ORDERS, (True, False))]
STREAMING = [Build(lane, order, False, n) for lane, order, n in product((4, 16), ORDERS[:2], (1, 2, 4))]


def specs() -> list:
    return [spec("walk.cu", "walk", **build.defines) for build in dict.fromkeys([*DRIFTING, *STREAMING])]


def run(context: Context) -> Iterator[dict]:
    for build, each, warps, turns in product(DRIFTING, (1, 4), (1, 8), (16, 64, 256, 1024)):
        yield _case(context, build, "dram", each * context.sms, warps, turns)
    for build, warps, ctas in product(STREAMING, (1, 4), (1, context.sms)):
        for source in RANGES:
            yield _case(context, build, source, ctas, warps, 256)


def _case(context: Context, build: Build, source: str, grid: int, warps: int, turns: int) -> dict:
    kernel = context.kernel("walk.cu", "walk", **build.defines)
    lanes = RANGES[source] // build.lane_bytes
    args = (context.source, i32(turns), u64(lanes - 1), u64(lanes // build.streams + FURTHER))
    count = 4 * grid * warps
    each = []
    for _ in range(REPEATS):
        launch = context.cold if source == "dram" else context.warm
        stamps = launch(kernel, grid, 32 * warps, args, count)[:count]
        ends, sums, squares, _ = stamps.reshape(grid, warps, 4).transpose(2, 0, 1).astype(float)
        mean, last = sums.mean() / turns, ends.max(axis=1)
        each.append(
            {
                "load_cycles": mean,
                "load_deviation": max(squares.mean() / turns - mean**2, 0.0) ** 0.5,
                "turn_cycles": ends.mean() / turns,
                "warp_deviation": ends.std(),
                "cta_cycles": last.mean(),
                "cta_deviation": last.std(),
                "last_cycles": last.max(),
            }
        )
    return {
        "source": source,
        **build._asdict(),
        "ctas": grid,
        "warps": warps,
        "turns": turns,
        **{key: float(np.median([one[key] for one in each])) for key in each[0]},
    }
