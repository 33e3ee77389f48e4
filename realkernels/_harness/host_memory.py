"""Memory of host programs: one large block per place, reused by every program that is measured.

Pinning a gigabyte takes longer than most programs; what a program declares as existing
before it starts is cut out of the blocks here.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np

from gpusim.program import host as ops

__all__ = ["Arena", "DriverPool", "Pointers", "memory_needed"]

ALIGNMENT = 4096


class Arena:
    """A block on each device, a pinned and a pageable one of ``bytes`` each, allocated when first asked for."""

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self._on_device: dict[int, int] = {}

    def on_device(self, device: int) -> int:
        """Address of the block on a device."""
        import cupy

        if device not in self._on_device:
            with cupy.cuda.Device(device):
                self._on_device[device] = cupy.cuda.runtime.malloc(self.bytes)
        return self._on_device[device]

    @cached_property
    def pinned(self) -> int:
        import cupy

        pointer = cupy.cuda.runtime.hostAlloc(self.bytes, 0)
        self._fill(pointer)
        return pointer

    @cached_property
    def _pageable(self) -> np.ndarray:
        return np.empty(self.bytes // 4 + ALIGNMENT, dtype=np.uint32)

    @cached_property
    def pageable(self) -> int:
        # Page-aligned, as what malloc returns for blocks of this size nearly is.
        pointer = -(-self._pageable.ctypes.data // ALIGNMENT) * ALIGNMENT
        self._fill(pointer)
        return pointer

    def _fill(self, pointer: int) -> None:
        """Random words: touched pages, and nothing a link could compress."""
        words = host_view(pointer, self.bytes)
        block = np.random.default_rng(1).integers(0, 1 << 32, size=1 << 20, dtype=np.uint32)
        for start in range(0, len(words), len(block)):
            part = words[start : start + len(block)]
            part[:] = block[: len(part)]

    def block(self, place: ops.Place, device: int = 0) -> int:
        """Address of the block of a place."""
        return self.on_device(device) if place == "device" else getattr(self, place)


def host_view(pointer: int, size: int) -> np.ndarray:
    """Host memory as 32-bit words."""
    return np.frombuffer((ctypes.c_uint32 * (size // 4)).from_address(pointer), dtype=np.uint32)


def memory_needed(program: ops.HostProgram) -> int:
    """Bytes that the buffers of the fullest place take; some scratch for copies and memsets that name none."""
    places: Counter[tuple[str, int]] = Counter()
    for buffer in program.buffers:
        places[_place(buffer)] += -(-buffer.bytes // ALIGNMENT) * ALIGNMENT
    unnamed = [
        op.bytes
        for part in (*program.threads, *program.graphs)
        for op in part.ops
        if (isinstance(op, ops.MemcpyAsync | ops.Memcpy) and not (op.host and op.device))
        or (isinstance(op, ops.MemsetAsync) and not op.device)
    ]
    return max(*places.values(), 2 * max(unnamed, default=0), ALIGNMENT)


def _place(buffer: ops.Buffer) -> tuple[str, int]:
    """The block that a buffer is cut out of: host memory is the same for all devices."""
    return buffer.place, buffer.device if buffer.place == "device" else 0


class Pointers:
    """Where each buffer of a program lies: fixed for declared ones, set by their allocation for others."""

    def __init__(self, program: ops.HostProgram, arena: Arena) -> None:
        self._arena = arena
        self.table: dict[str, int] = {}
        self._declared = {buffer.name: buffer for buffer in program.buffers}
        used: Counter[tuple[str, int]] = Counter()
        for buffer in program.buffers:
            place = _place(buffer)
            start = used[place]
            used[place] = start + -(-buffer.bytes // ALIGNMENT) * ALIGNMENT
            if used[place] > arena.bytes:
                raise MemoryError(f"{program.name}: {buffer.place} buffers exceed {arena.bytes} bytes")
            self.table[buffer.name] = arena.block(*place) + start

    def static(self, name: str) -> bool:
        return name == "" or name in self._declared

    def at(self, name: str, offset: int, place: str = "device", side: int = 0) -> int:
        """Address of a range; an unnamed one lies anywhere in its block (``side`` 1: in its other half) on device 0."""
        if name:
            return self.table[name] + offset
        return self._arena.block(place) + side * (self._arena.bytes // 2)

    def view(self, name: str) -> np.ndarray:
        """A declared host buffer as 32-bit words."""
        buffer = self._declared[name]
        return host_view(self.table[name], buffer.bytes)

    def pool(self, pool: ops.Pool) -> Any:
        return DriverPool(pool) if pool.kind == "driver" else CachingPool(pool)


class DriverPool:
    """A CUDA memory pool of its own, so that no other program's memory is in it.

    Raises ValueError for one with a limit, which CuPy's ``MemPoolProps`` cannot say.
    """

    def __init__(self, pool: ops.Pool) -> None:
        if pool.limit is not None:
            raise ValueError(
                f"pool {pool.name!r} has a limit, which CuPy cannot set; this program is for the model only"
            )
        from cupy.cuda import runtime

        self._runtime = runtime
        self._pool = runtime.memPoolCreate(runtime.MemPoolProps(1, 0, 1, pool.device))
        self._attribute = runtime.cudaMemPoolAttrReleaseThreshold
        runtime.memPoolSetAttribute(self._pool, self._attribute, pool.release_threshold)

    def take(self, size: int, _name: str, stream: Any) -> int:
        return self._runtime.mallocFromPoolAsync(size, self._pool, stream.ptr)

    def give(self, pointer: int, _name: str, stream: Any) -> None:
        self._runtime.freeAsync(pointer, stream.ptr)

    def empty(self) -> None:
        """As before the program ran."""
        self._runtime.deviceSynchronize()
        self._runtime.memPoolTrimTo(self._pool, 0)


class CachingPool:
    """CuPy's own allocator: blocks by stream, cudaMalloc when none fits."""

    def __init__(self, pool: ops.Pool) -> None:
        import cupy

        self._pool = cupy.cuda.MemoryPool()
        if pool.limit is not None:
            self._pool.set_limit(size=pool.limit)
        self._held: dict[str, Any] = {}

    def take(self, size: int, name: str, stream: Any) -> int:
        with stream:
            block = self._held[name] = self._pool.malloc(size)
        return block.ptr

    def give(self, _pointer: int, name: str, _stream: Any) -> None:
        del self._held[name]

    def empty(self) -> None:
        """As before the program ran."""
        self._held.clear()
        self._pool.free_all_blocks()
