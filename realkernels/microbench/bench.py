"""What every bench gets: kernels, device buffers, launches that return their stamps."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from realkernels._harness import device, timing
from realkernels._harness.compile import CompiledKernel, KernelSpec, compile_kernel

HERE = Path(__file__).resolve().parent
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
MEMORY_RANGE = 4 * GIB
"""Source of every DRAM measurement; a power of two, because kernels wrap by masking."""
L2_RANGE = 16 * MIB
"""Source of every L2 measurement; well inside half of the L2, so that either partition can hold it."""
SLACK = 4 * MIB
"""Room behind a range: a tile that starts at its end still reads allocated memory."""

i32, u32, u64, f32 = np.int32, np.uint32, np.uint64, np.float32


def spec(source: str, name: str, **defines: object) -> KernelSpec:
    return KernelSpec(HERE / source, name, defines)


class Context:
    """Kernels and buffers on the attached device; buffers are shared by all benches."""

    def __init__(self) -> None:
        self.sms = device.sm_count()
        self.clock_hz = timing.sample_clock()
        self._kernels: dict[Any, CompiledKernel] = {}

    def kernel(self, source: str, name: str, **defines: object) -> CompiledKernel:
        key = source, name, tuple(sorted(defines.items()))
        if key not in self._kernels:
            self._kernels[key] = compile_kernel(HERE / source, name, defines)
        return self._kernels[key]

    @cached_property
    def source(self) -> Any:
        """4 GiB to read; random, because bus power and so the clock may depend on the data."""
        import cupy

        buffer = cupy.empty((MEMORY_RANGE + SLACK) // 4, dtype=cupy.uint32)
        # One random block repeated: fast, and still no run of equal words.
        block = np.random.default_rng(1).integers(0, 1 << 32, size=SLACK // 4, dtype=np.uint32)
        buffer.reshape(-1, block.size)[:] = cupy.asarray(block)
        return buffer

    @cached_property
    def target(self) -> Any:
        """4 GiB to write."""
        import cupy

        return cupy.zeros((MEMORY_RANGE + SLACK) // 4, dtype=cupy.uint32)

    @cached_property
    def flush(self) -> Any:
        return timing.make_flush()

    def stamps(
        self, kernel: CompiledKernel, grid: int, block: int, args: tuple, count: int, shared: int = 0
    ) -> np.ndarray:
        """Launch with an output array of ``count`` integers as first argument and return it."""
        out = _output(count)
        out.fill(0)
        kernel.launch(grid, block, (out, *args), shared)
        return out[:count].get()

    def cold(
        self, kernel: CompiledKernel, grid: int, block: int, args: tuple, count: int, shared: int = 0
    ) -> np.ndarray:
        """As ``stamps``, with the L2 emptied first; a tiny warm-up is the caller's business."""
        self.flush()
        return self.stamps(kernel, grid, block, args, count, shared)

    def warm(
        self, kernel: CompiledKernel, grid: int, block: int, args: tuple, count: int, shared: int = 0
    ) -> np.ndarray:
        """As ``stamps``, after one identical launch that brings the data into L2."""
        self.stamps(kernel, grid, block, args, count, shared)
        return self.stamps(kernel, grid, block, args, count, shared)


def _output(count: int) -> Any:
    # Rounded up to a power of two, so that a sweep does not allocate for every shape.
    return _output_block(max(1024, 1 << (count - 1).bit_length()))


@cache
def _output_block(size: int) -> Any:
    import cupy

    return cupy.zeros(size, dtype=cupy.int64)


def settled(cycles: np.ndarray) -> dict[str, float]:
    """Minimum and median over repeats, the first one (cold instruction cache) dropped."""
    rest = np.asarray(cycles)[1:]
    return {"cycles_min": float(rest.min()), "cycles_median": float(np.median(rest))}


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, int(value)))


def per_cta(stamps: np.ndarray, grid: int, bytes_per_cta: int, ctas_per_sm: int, clock_hz: float) -> dict[str, float]:
    """Throughput from per-CTA cycles (first half) and SM numbers (second half).

    The rate of one SM uses the median CTA; the device rate the slowest, which is when the work is done.
    """
    cycles, sms = stamps[:grid], stamps[grid : 2 * grid]
    median, slowest = float(np.median(cycles)), float(cycles.max())
    return {
        "cycles_median": median,
        "cycles_min": float(cycles.min()),
        "cycles_max": slowest,
        "bytes_per_cycle_per_sm": ctas_per_sm * bytes_per_cta / median,
        "bytes_per_s": grid * bytes_per_cta / slowest * clock_hz,
        "most_ctas_on_one_sm": int(np.bincount(sms).max()),
    }
