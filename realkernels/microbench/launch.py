"""Kernel launch, CTA dispatch, turnover of CTAs and start skew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness.compile import KernelSpec
from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import KIB, Context, f32, i32, spec

SOURCES = ("launch.cu",)
NOTES = {
    "kind": "event_pair: empty kernel between two events; queue: per kernel in a full queue; once: a CTA on each SM "
    "that spins `duration` cycles and stores nothing; waves: CTAs that spin "
    "`duration` cycles, in full waves; skew: first instructions of one full wave; turnover: waves of empty CTAs",
    "seconds": "median event-to-event time (queue: divided by the kernels); seconds_min: the shortest",
    "cycles_per_wave": "turnover: device cycles from one wave of empty CTAs to the next; short: the same of CTAs whose "
    "threads run a chain of `work` FFMAs and then nothing, a load of 4 bytes from L2, a store that no lane executes, "
    "or stores of 4 bytes to L2 or DRAM",
    "gap_cycles_median": "waves: end of a CTA to the start of its successor in the same slot, clock64 of the SM",
    "extra_per_wave_s": "waves: event time beyond one wave per further wave, less the spin itself",
    "p50_s": "skew: start after the first CTA's start, by the global timer (see clock.json for its step)",
}
GRIDS = (1, 132, 264, 1056, 4224, 16896, 135168)
BLOCKS = (32, 128, 512)
QUEUED = 200
WAVES = (8, 40)
DURATION = 4000
REPEATS = 200
"""Of what is told from a difference of two short times."""


SHORT = {"nothing": 0, "load": 1, "store": 2, "store_dram": 3, "masked": 4}
SHORT_CASES = [
    *(("nothing", work, 1) for work in (0, 8, 16, 32, 64)),
    ("load", 0, 1), ("masked", 0, 1), ("store", 0, 1), ("store", 0, 4), ("store", 32, 1), ("store_dram", 0, 1),
]  # fmt: skip
L2_WINDOW, DRAM_WINDOW = 1 << 18, 1 << 26
"""Elements of 4 bytes."""


def short_spec(end: str, work: int, stores: int) -> KernelSpec:
    """Of CTAs that come and go."""
    return spec("launch.cu", "short_ctas", END=SHORT[end], WORK=work, STORES=stores)


def specs() -> list:
    return [spec("launch.cu", "empty", END=0, WORK=0, STORES=0), *(short_spec(*case) for case in SHORT_CASES)]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("launch.cu", "empty", END=0, WORK=0, STORES=0)
    for grid in GRIDS:
        for block in BLOCKS:
            yield from _empty(kernel, grid, block)
    spin = context.kernel("launch.cu", "spin", END=0, WORK=0, STORES=0)
    for block in (32, 128, 1024):
        args = (i32(DURATION),)
        times = time_launch(lambda b=block, a=args: spin.launch(context.sms, b, a), repeats=REPEATS)
        yield {"kind": "once", "block": block, "duration": DURATION, "seconds_min": times.min_s}
    for block in (128, 1024):
        for shared in (0, 64 * KIB, 200 * KIB):
            yield from _waves(context, block, shared)
    for block in (32, 64, 128, 256, 512, 1024):
        for shared in (0, 100 * KIB, 200 * KIB):
            yield _turnover(context, kernel, block, shared)
    for case in SHORT_CASES:
        for block, shared in ((32, 200 * KIB), (256, 200 * KIB), (1024, 200 * KIB), (256, 100 * KIB), (1024, 0)):
            yield _short(context, case, block, shared)


def _empty(kernel, grid: int, block: int) -> Iterator[dict]:
    def launch() -> None:
        kernel.launch(grid, block, ())

    def queue() -> None:
        for _ in range(QUEUED):
            launch()

    times = time_launch(launch, repeats=REPEATS if grid == 1 else 20)
    yield {
        "kind": "event_pair",
        "grid": grid,
        "block": block,
        "seconds": times.median_s,
        "seconds_min": times.min_s,
        "iqr_s": times.iqr,
    }
    # Long enough a head start for the host to enqueue them all.
    times = time_launch(queue, repeats=3, warmup=1, head_start_s=3e-3)
    yield {
        "kind": "queue",
        "grid": grid,
        "block": block,
        "seconds": times.median_s / QUEUED,
        "iqr_s": times.iqr / QUEUED,
    }


def _turnover(context: Context, kernel, block: int, shared: int, args: tuple = ()) -> dict:
    slots = kernel.max_active_ctas(block, shared)
    seconds = []
    for waves in WAVES:
        grid = context.sms * slots * waves
        seconds.append(time_launch(lambda g=grid: kernel.launch(g, block, args, shared), repeats=10).median_s)
    each = (seconds[1] - seconds[0]) / (WAVES[1] - WAVES[0])
    return {
        "kind": "turnover",
        "block": block,
        "shared_bytes": shared,
        "ctas_per_sm": slots,
        "cycles_per_wave": each * context.clock_hz,
    }


def _short(context: Context, case: tuple[str, int, int], block: int, shared: int) -> dict:
    end, work, stores = case
    kernel = context.kernel("launch.cu", "short_ctas", END=SHORT[end], WORK=work, STORES=stores)
    window = DRAM_WINDOW if end == "store_dram" else L2_WINDOW
    target = context.target
    args = (target, i32(window), f32(0.999), f32(0.001))
    row = _turnover(context, kernel, block, shared, args)
    return {**row, "kind": "short", "end": end, "work": work, "stores": stores}


def _waves(context: Context, block: int, shared: int) -> Iterator[dict]:
    import cupy

    kernel = context.kernel("launch.cu", "occupy", END=0, WORK=0, STORES=0)
    slots = kernel.max_active_ctas(block, shared)
    base = None
    for waves in (1, 2, 4, 8):
        grid = context.sms * slots * waves
        out = cupy.zeros(4 * grid, dtype=cupy.int64)
        args = (out, i32(DURATION))
        times = time_launch(lambda g=grid, a=args: kernel.launch(g, block, a, shared), repeats=10)
        stamps = out.get().reshape(grid, 4)
        row = {
            "kind": "waves",
            "block": block,
            "shared_bytes": shared,
            "ctas_per_sm": slots,
            "waves": waves,
            "duration": DURATION,
            "seconds": times.median_s,
        }
        if base is None:
            base = times.median_s
            yield row
            yield _skew(stamps, block, shared, slots)
            continue
        gaps = turnaround(stamps, slots)
        low, middle, high = (float(v) for v in np.percentile(gaps, [10, 50, 90]))
        yield {
            **row,
            "extra_per_wave_s": (times.median_s - base) / (waves - 1) - DURATION / context.clock_hz,
            "gap_cycles_p10": low,
            "gap_cycles_median": middle,
            "gap_cycles_p90": high,
        }


def turnaround(stamps: np.ndarray, slots: int) -> np.ndarray:
    """Cycles from the k-th end on an SM to the start of the CTA that takes the freed slot."""
    gaps = []
    for sm in np.unique(stamps[:, 2]):
        mine = stamps[stamps[:, 2] == sm]
        starts, ends = np.sort(mine[:, 0]), np.sort(mine[:, 1])
        gaps.append(starts[slots:] - ends[: max(0, len(starts) - slots)])
    return np.concatenate(gaps)


def _skew(stamps: np.ndarray, block: int, shared: int, slots: int) -> dict:
    late = (stamps[:, 3] - stamps[:, 3].min()) * 1e-9
    low, middle, high = (float(v) for v in np.percentile(late, [10, 50, 90]))
    return {
        "kind": "skew",
        "block": block,
        "shared_bytes": shared,
        "ctas_per_sm": slots,
        "ctas": len(stamps),
        "p10_s": low,
        "p50_s": middle,
        "p90_s": high,
        "max_s": float(late.max()),
    }
