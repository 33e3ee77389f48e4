"""SM clock at rest and under load, and the step of the global timer."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from realkernels._harness.timing import read_clock
from realkernels.microbench.bench import MEMORY_RANGE, Context, f32, i32, spec, u64

SOURCES = ("clock.cu",)
NOTES = {
    "load": "rest: one thread after a pause; idle: all SMs spin; ffma, memory: all SMs compute or read",
    "clock_hz": "median over CTAs of clock64 over global timer; clock_min_hz and clock_max_hz over CTAs",
    "timer_step_s": "smallest step of the global timer",
}
LOADS = {"idle": 0, "ffma": 1, "memory": 2}
DURATION_NS = 5_000_000


def specs() -> list:
    return [spec("clock.cu", "clock_load")]


def run(context: Context) -> Iterator[dict]:
    time.sleep(0.3)
    clock, step = read_clock()
    yield {"load": "rest", "clock_hz": clock, "clock_min_hz": clock, "clock_max_hz": clock, "timer_step_s": step}
    kernel, grid = context.kernel("clock.cu", "clock_load"), 4 * context.sms
    for load, number in LOADS.items():
        args = (
            context.source,
            u64(MEMORY_RANGE // 16),
            f32(0.999),
            f32(0.001),
            i32(number),
            u64(DURATION_NS),
        )
        # Several launches: the power limit takes some milliseconds to act.
        for _ in range(4):
            cycles, nanoseconds = context.stamps(kernel, grid, 512, args, 2 * grid).reshape(grid, 2).T
        rates = cycles / (nanoseconds * 1e-9)
        yield {
            "load": load,
            "clock_hz": float(np.median(rates)),
            "clock_min_hz": float(rates.min()),
            "clock_max_hz": float(rates.max()),
            "duration_s": DURATION_NS * 1e-9,
        }
