"""Calls that allocate and free memory.

Models: what the OS takes, by size; how much there is (`DeviceMemory`); calls that wait for their device first, and then
  come back as a synchronisation does before they do what they do on an idle device; pools.
  New memory is cleared by the engine that copies to the device, from the beginning of the call on, whatever is copied
  behind it.
Omits: that copies and the clearing of more than 64 MiB take turns.
Source: CUDA Runtime API (stream-ordered memory allocator); realkernels.microbench.host (alloc, rules).
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from gpusim.errors import GpusimError
from gpusim.host.calls.caller import Caller, Calls
from gpusim.host.calls.shared import Allocated, Shared
from gpusim.host.device.pools import MemoryPool
from gpusim.program import host as ops

__all__ = ["MemoryCalls"]

_ORIGIN = {
    "": "was not allocated", "declared": "existed before the program",
    "device": "comes from cudaMalloc: free it with cudaFree",
    "pinned": "comes from cudaMallocHost: free it with cudaFreeHost",
}  # fmt: skip
"""Where a buffer comes from; all others are from a pool."""
_NOTHING = Allocated("", 0, 0)


class MemoryCalls:
    """The calls of one thread that allocate and free."""

    def __init__(self, shared: Shared, caller: Caller) -> None:
        self._shared, self._caller, self._costs = shared, caller, shared.costs
        self.calls: Calls = {
            ops.Malloc: self._malloc,
            ops.Free: self._free,
            ops.MallocHost: self._malloc_host,
            ops.FreeHost: self._free_host,
            ops.MallocAsync: self._malloc_async,
            ops.FreeAsync: self._free_async,
        }

    def _malloc(self, op: ops.Malloc) -> Generator:
        device = self._caller.device
        self._new_buffer(op.buffer, "device", op.bytes, device)
        seconds, new = self._shared.pages[device].take(op.buffer, op.bytes)
        yield from self._os_call(device, seconds, "alloc.waits", op.bytes, op.chunk, new)

    def _free(self, op: ops.Free) -> Generator:
        _, size, device = self._gone(op.buffer, "device")
        seconds = self._shared.pages[device].give(op.buffer, size)
        yield from self._os_call(device, seconds, "alloc.free_waits", size, op.chunk)

    def _malloc_host(self, op: ops.MallocHost) -> Generator:
        device = self._caller.device
        self._new_buffer(op.buffer, "pinned", op.bytes, device)
        seconds = self._costs.sized("alloc.host", op.bytes)
        yield from self._os_call(device, seconds, "alloc.host_waits", op.bytes, op.chunk)

    def _free_host(self, op: ops.FreeHost) -> Generator:
        _, size, device = self._gone(op.buffer, "pinned")
        seconds = self._costs.sized("alloc.host_free", size)
        yield from self._os_call(device, seconds, "alloc.host_free_waits", size, op.chunk)

    def _malloc_async(self, op: ops.MallocAsync) -> Generator:
        pool, stream = self._pool(op.pool), self._caller.stream(op.stream)
        device = stream.spec.device
        if device != pool.pool.device:
            raise GpusimError(
                f"pool {op.pool!r} is on device {pool.pool.device}, and stream {op.stream!r} on device {device}; "
                "take from a pool of the stream's device"
            )
        self._new_buffer(op.buffer, op.pool, op.bytes, device)
        key, look_s = self._caller.stream_key(op.stream), self._looks(device)
        taken = pool.take(op.buffer, op.bytes, key, set(stream.waits), look_s)
        if taken.grown and pool.caching and self._costs.flag("alloc.waits"):
            yield from self._os_call(device, 0.0, "alloc.waits", 0, op.chunk)
        self._clear(device, taken.grown)
        yield from self._caller.busy("alloc", taken.seconds, op.chunk, op.bytes)

    def _free_async(self, op: ops.FreeAsync) -> Generator:
        where, _, _ = self._gone(op.buffer, *self._shared.pools)
        stream = self._caller.stream(op.stream)
        seconds = self._pool(where).give(op.buffer, self._caller.stream_key(op.stream), stream.last)
        yield from self._caller.busy("alloc", seconds, op.chunk)

    def _looks(self, device: int) -> Callable[[str], float]:
        """What it takes to look whether a stream has come to what it frees.

        Little if there has been nothing to do since the host has seen the device idle, or if the stream has not.
        """
        streams, value = self._shared.machine.streams, self._costs.profile.value
        idle = len(streams.items) == self._shared.seen_idle[device]

        def look_s(key: str) -> float:
            stream = streams.used(key)
            busy = stream is not None and stream.last is not None and not stream.last.finished
            return value("pool.look_idle" if idle else "pool.look_busy" if busy else "pool.look_done")

        return look_s

    def _clear(self, device: int, size: int) -> None:
        if size:
            self._shared.machine.devices[device].engines.clear(size)

    def _os_call(self, device: int, seconds: float, waits: str, size: int, chunk: int, new: int = 0) -> Generator:
        """A call that waits for the device if the profile's quantity ``waits`` says so, and takes ``new`` bytes."""
        if self._costs.flag(waits):
            last = [stream.last for stream in self._shared.machine.streams.of(device) if stream.last is not None]
            waited = any(not item.finished for item in last)
            for item in last:
                yield from self._caller.until(item, "host_sync", chunk)
            if waited:
                yield from self._caller.busy("issue", self._costs.call("sync_wake"), chunk)
        self._clear(device, new)
        yield from self._caller.busy("alloc", seconds, chunk, size)

    def _pool(self, name: str) -> MemoryPool:
        if name not in self._shared.pools:
            raise GpusimError(f"pool {name!r} is not declared")
        return self._shared.pools[name]

    def _new_buffer(self, name: str, where: str, size: int, device: int) -> None:
        if name in self._shared.buffers:
            raise GpusimError(f"buffer {name!r} is allocated twice; free it first or use another name")
        if where != "pinned":
            self._shared.memory[device].take(name, size)
        self._shared.buffers[name] = Allocated(where, size, device)

    def _gone(self, name: str, *places: str) -> Allocated:
        """Forget a buffer and return what it was. Raises GpusimError if it is not from one of ``places``."""
        buffer = self._shared.buffers.get(name, _NOTHING)
        where = buffer.origin
        if where not in places:
            origin = _ORIGIN.get(where, f"comes from pool {where!r}: free it with cudaFreeAsync")
            raise GpusimError(f"buffer {name!r} cannot be freed like that: it {origin}")
        if where != "pinned":
            self._shared.memory[buffer.device].give(buffer.bytes)
        del self._shared.buffers[name]
        return buffer
