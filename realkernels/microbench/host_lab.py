"""What the host benches share: streams, stamped kernels, work released all at once, call times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from realkernels._harness.compile import compile_kernel
from realkernels._harness.timing import hold_stream
from realkernels.microbench.bench import HERE, MIB

H2D, D2H, D2D = 1, 2, 3
MOST_STAMPS = 4096


class Lab:
    """One device, its scratch memory and a supply of streams."""

    def __init__(self, bytes: int = 256 * MIB) -> None:
        import cupy

        self.cupy, self.runtime = cupy, cupy.cuda.runtime
        self.bytes = bytes
        self.sms = int(cupy.cuda.Device().attributes["MultiProcessorCount"])
        self._stamp = compile_kernel(HERE / "host_stamps.cu", "stamp").prepared()
        self._blocks = compile_kernel(HERE / "host_stamps.cu", "stamp_blocks").prepared()
        self._blocks_alone = compile_kernel(HERE / "host_stamps.cu", "stamp_blocks_alone").prepared()
        self._out = cupy.zeros(2 * MOST_STAMPS, dtype=cupy.uint64)
        blank = np.zeros(2 * MOST_STAMPS, dtype=np.uint64)
        blank[::2] = np.iinfo(np.uint64).max
        self._blank = cupy.asarray(blank)
        self._streams: list[Any] = []

    @cached_property
    def device(self) -> int:
        """Device scratch: twice ``bytes``, so that both directions have their own half."""
        return self.runtime.malloc(2 * self.bytes)

    @cached_property
    def pinned(self) -> int:
        return self.runtime.hostAlloc(2 * self.bytes, 0)

    @cached_property
    def _pageable(self) -> np.ndarray:
        return np.ones(2 * self.bytes, dtype=np.uint8)

    @property
    def pageable(self) -> int:
        return self._pageable.ctypes.data

    def streams(self, count: int) -> list[Any]:
        """Non-blocking streams, the same ones each time."""
        while len(self._streams) < count:
            self._streams.append(self.cupy.cuda.Stream(non_blocking=True))
        return self._streams[:count]

    def kernel(self, stream: Any, index: int, seconds: float, grid: int = 1, block: int = 32, shared: int = 0) -> None:
        """Enqueue a kernel that stamps ``index`` and stays for ``seconds``."""
        with stream:
            self._stamp(
                (grid,), (block,), (self._out, np.int32(index), np.uint64(round(seconds * 1e9))), shared_mem=shared
            )

    def blocks(self, stream: Any, out: Any, seconds: float, grid: int, block: int, *, alone: bool = False) -> None:
        """Enqueue a kernel whose every block leaves (start, SM) in ``out``; ``alone``: by its first warp alone."""
        kernel = self._blocks_alone if alone else self._blocks
        with stream:
            kernel((grid,), (block,), (out, np.uint64(round(seconds * 1e9))))

    def copy(self, stream: Any, kind: int, size: int, place: str = "pinned", half: int | None = None) -> None:
        """Enqueue a copy; the two directions use different halves of the scratch memory."""
        offset = self.bytes * ((kind == D2H) if half is None else half)
        device, host = self.device + offset, getattr(self, place) + offset
        if kind == D2D:
            self.runtime.memcpyAsync(self.device, self.device + self.bytes, size, kind, stream.ptr)
        elif kind == H2D:
            self.runtime.memcpyAsync(device, host, size, kind, stream.ptr)
        else:
            self.runtime.memcpyAsync(host, device, size, kind, stream.ptr)

    @contextmanager
    def released(self, streams: Sequence[Any], head_start_s: float) -> Iterator[None]:
        """What is enqueued inside waits until all of it is queued; then the device is synchronised."""
        self.reset()
        gate = self.cupy.cuda.Event(disable_timing=True)
        holder = self._holder
        with holder:
            hold_stream(head_start_s)
        gate.record(holder)
        for stream in streams:
            stream.wait_event(gate)
        begin = time.perf_counter()
        yield
        # Whoever needs longer to enqueue than the head start measures the host instead.
        self.late = time.perf_counter() - begin > head_start_s
        self.runtime.deviceSynchronize()

    @cached_property
    def _holder(self) -> Any:
        return self.cupy.cuda.Stream(non_blocking=True)

    def reset(self) -> None:
        self.runtime.deviceSynchronize()
        self._out[...] = self._blank
        self.runtime.deviceSynchronize()

    def stamps(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """First and last block start of each stamped kernel, in seconds."""
        out = self._out[: 2 * count].get().reshape(count, 2)
        base = out[:, 0].min()
        return (out[:, 0] - base) * 1e-9, (out[:, 1] - base) * 1e-9


def spread(samples: Sequence[float] | np.ndarray) -> dict[str, Any]:
    """Median, 10th and 90th percentile and number of samples."""
    values = np.asarray(samples, dtype=float)
    low, middle, high = (float(v) for v in np.percentile(values, [10, 50, 90]))
    return {"median_s": middle, "p10_s": low, "p90_s": high, "mean_s": float(values.mean()), "n": len(values)}


def time_calls(call: Callable[[], object], count: int, after: Callable[[], object] | None = None) -> np.ndarray:
    """Seconds of each single call."""
    clock = time.perf_counter_ns
    samples = np.empty(count)
    for i in range(count):
        begin = clock()
        call()
        samples[i] = clock() - begin
        if after is not None:
            after()
    return samples * 1e-9


def time_row(call: Callable[[], object], count: int) -> float:
    """Mean seconds of calls made one right after the other, as a program makes them."""
    calls = [call] * count
    begin = time.perf_counter()
    for each in calls:
        each()
    return (time.perf_counter() - begin) / count
