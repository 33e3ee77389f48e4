"""Time of one launch on the device, and the clock it ran at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from realkernels._harness.compile import CompiledKernel, compile_kernel

__all__ = ["Times", "hold_stream", "make_flush", "read_clock", "sample_clock", "time_launch"]

SPIN_SOURCE = Path(__file__).resolve().parent / "spin.cu"


@dataclass(frozen=True)
class Times:
    """Repeated measurements of one thing, in seconds."""

    samples: tuple[float, ...]

    @property
    def median_s(self) -> float:
        return float(np.median(self.samples))

    @property
    def min_s(self) -> float:
        return float(np.min(self.samples))

    @property
    def max_s(self) -> float:
        return float(np.max(self.samples))

    @property
    def iqr(self) -> float:
        """Distance of the quartiles, in seconds."""
        low, high = np.percentile(self.samples, [25, 75])
        return float(high - low)


def time_launch(
    launch: Callable[[], None],
    repeats: int = 20,
    warmup: int = 3,
    flush: Callable[[], None] | None = None,
    head_start_s: float = 40e-6,
) -> Times:
    """Event-to-event time of whatever ``launch`` enqueues on the current stream.

    A spin kernel runs first, long enough (``head_start_s``) for the host to enqueue both events and the
    launch behind it, so that no host time lies between the events. Raise ``head_start_s`` for a launch
    that enqueues many kernels.
    """
    import cupy

    for _ in range(warmup):
        launch()
    cupy.cuda.get_current_stream().synchronize()
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    samples = []
    for _ in range(repeats):
        if flush is not None:
            flush()
        hold_stream(head_start_s)
        start.record()
        launch()
        stop.record()
        stop.synchronize()
        samples.append(cupy.cuda.get_elapsed_time(start, stop) * 1e-3)
    return Times(tuple(samples))


def hold_stream(seconds: float) -> None:
    """Keep the current stream busy, so that what follows is queued before it can start."""
    _spin_kernel("spin").launch(1, 1, (np.uint64(int(seconds * 1e9)),))


def sample_clock(seconds: float = 100e-6) -> float:
    """SM clock in Hz right now: cycles over global timer inside one kernel."""
    return read_clock(seconds)[0]


def read_clock(seconds: float = 100e-6) -> tuple[float, float]:
    """(SM clock in Hz, step of the global timer in seconds)."""
    import cupy

    out = cupy.zeros(3, dtype=cupy.int64)
    _spin_kernel("clock_ratio").launch(1, 1, (out, np.uint64(int(seconds * 1e9))))
    cycles, nanoseconds, step = (int(v) for v in out.get())
    return cycles / (nanoseconds * 1e-9), step * 1e-9


def make_flush(size_bytes: int = 256 << 20) -> Callable[[], None]:
    """A function that reads a scratch buffer larger than any L2, evicting everything else.

    It reads and does not write: dirty lines would be written back during the kernel under test.
    """
    scratch = _scratch(size_bytes)
    return scratch.sum


@cache
def _scratch(size_bytes: int) -> Any:
    import cupy

    return cupy.zeros(size_bytes // 4, dtype=cupy.float32)


@cache
def _spin_kernel(name: str) -> CompiledKernel:
    return compile_kernel(SPIN_SOURCE, name)
