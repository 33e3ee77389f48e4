"""A host thread: makes its calls one after another, each for its cost, some until something has happened.

Models: the cost of every call, and what it costs more that is the first of its kind after a host function has run on
  the driver's thread; calls that wait (synchronisation, cudaFree, blocking copies, full queues); staging of pageable
  memory inside the call.
Omits: scheduling of threads on cores (each has one of its own).
Source: CUDA Runtime API (stream synchronization behavior); realkernels.microbench.host (calls, cpp, alloc, rules).
"""

from __future__ import annotations

from collections.abc import Generator
from functools import singledispatchmethod
from typing import Any

from gpusim.engine import Simulation
from gpusim.errors import GpusimError
from gpusim.host.device import Device
from gpusim.host.graphs import launch_graph
from gpusim.host.pages import Pages
from gpusim.host.pools import MemoryPool
from gpusim.host.sleep import Sleep
from gpusim.host.staging import Staging
from gpusim.host.work import Item, StreamState
from gpusim.program import host as ops
from gpusim.timeline import Recorder

__all__ = ["HostThreadModel", "Shared"]


class Shared:
    """What all threads of a program see: the device, events, buffers, pools."""

    def __init__(self, sim: Simulation, program: ops.HostProgram, device: Device) -> None:
        self.sim, self.program, self.device, self.costs = sim, program, device, device.costs
        self.staging = Staging(device, program)
        self.pages, self.slot_wake = Pages(device.costs), Sleep(device.profile, "slot")
        self.pools = {pool.name: MemoryPool(pool, device.costs) for pool in program.pools}
        self.running = len(program.threads)
        """Threads that still have calls to make."""
        self.lock_share = self.costs.call("lock") / self.costs.call("launch") if self.costs.call("launch") else 0.0
        self.lock_free_s = 0.0
        self.events: dict[str, Item] = {}
        self.buffers: dict[str, tuple[str, int]] = {b.name: ("declared", b.bytes) for b in program.buffers}
        self.recorded = {op.event for t in program.threads for op in t.ops if isinstance(op, ops.EventRecord)}


class HostThreadModel:
    """One thread; ``run()`` is its process."""

    def __init__(self, shared: Shared, thread: ops.HostThread, number: int, record: Recorder | None) -> None:
        self._shared, self._thread, self._record = shared, thread, record
        self._sim, self._device, self._costs = shared.sim, shared.device, shared.costs
        self._functions_seen: dict[str, int] = {}
        """How many host functions had run when each kind of call was made last."""
        self.lane = f"host[{number}]"

    def run(self) -> Generator:
        """Make all calls. Raises GpusimError for a call the runtime would reject."""
        for op in self._thread.ops:
            yield from self.call(op)
        self._shared.running -= 1

    @singledispatchmethod
    def call(self, op: Any) -> Generator:
        """Make one call."""
        raise GpusimError(f"{type(op).__name__} is no host operation")

    def busy(self, kind: str, seconds: float, chunk: int = -1, size: int = 0) -> Generator:
        """Take the thread for ``seconds``."""
        start = self._sim.now
        if seconds > 0.0:
            yield self._sim.timeout(seconds)
            if self._record is not None:
                self._record(self.lane, kind, start, self._sim.now, "", chunk, -1, size, -1)

    def _issue(self, shown: str, seconds: float, chunk: int) -> Generator:
        """A call that puts work into a stream; threads in such calls keep each other out for a part of it."""
        shared, before = self._shared, self._device.functions
        if shared.running < 2:
            yield from self.busy(shown, seconds, chunk)
            # In Python a host function needs the interpreter, which the thread then waits for.
            yield from self.busy(shown, (self._device.functions - before) * self._costs.call("func_steals"), chunk)
            return
        locked = seconds * shared.lock_share
        yield from self.busy(shown, max(seconds - locked, 0.0), chunk)
        begin = self._sim.now
        turn = max(begin, shared.lock_free_s)
        shared.lock_free_s = turn + locked
        if turn > begin:
            yield self._sim.timeout(turn - begin)
            self._waited(begin, "launch", chunk, -1)
        yield from self.busy(shown, locked, chunk)

    def _after_function(self, cost: str) -> float:
        """How much longer a call takes that is the first of its kind since a host function has run elsewhere."""
        before, self._functions_seen[cost] = self._functions_seen.get(cost, 0), self._device.functions
        return self._costs.call("after_func") if self._device.functions > before else 1.0

    def until(self, item: Item, reason: str, chunk: int = -1) -> Generator:
        """Wait for the end of a piece of work."""
        if item.finished:
            return
        start = self._sim.now
        yield from self._sim.wait(item.done, self.lane, reason, item)
        self._waited(start, reason, chunk, item.row)

    def _waited(self, start: float, reason: str, chunk: int, cause: int) -> None:
        if self._record is not None and self._sim.now > start:
            self._record(self.lane, "wait", start, self._sim.now, reason, chunk, -1, 0, cause)

    def _stream(self, name: str) -> StreamState:
        return self._device.streams.state(name, self._thread.name)

    def _enqueue(self, op: Any, kind: str, label: str, cost: str, shown: str = "issue") -> Generator:
        """A call that puts work into a stream; it blocks while the stream's queue is full."""
        stream = self._stream(op.stream)
        depth = self._device.profile.value("stream.queue_depth")
        while stream.queued and stream.queued[0].finished:
            stream.queued.popleft()
        if len(stream.queued) >= depth:
            yield from self.until(stream.queued[0], "launch", op.chunk)
        yield from self._issue(shown, self._costs.call(cost) * self._after_function(cost), op.chunk)
        return self._device.streams.enqueue(stream, kind, label, op.chunk, op)

    @call.register
    def _(self, op: ops.HostWork) -> Generator:
        yield from self.busy("host", op.seconds, op.chunk)

    @call.register
    def _(self, op: ops.Launch) -> Generator:
        yield from self._enqueue(op, "kernel", op.kernel.name, "launch", "launch")

    @call.register
    def _(self, op: ops.MemcpyAsync) -> Generator:
        if op.pinned or op.direction in ("d2d", "p2p"):
            yield from self._enqueue(op, "copy", op.direction, "memcpy_async")
            return
        yield from self.busy("issue", self._costs.call("memcpy_async"), op.chunk)
        yield from self._staged(op, self._stream(op.stream))

    def _staged(self, op: ops.MemcpyAsync | ops.Memcpy, stream: StreamState) -> Generator:
        staging = self._shared.staging
        if op.direction == "h2d":
            yield from staging.copy_in(self, stream, op)
        else:
            yield from staging.copy_out(self, stream, op, self._costs.call("sync_wake"))

    @call.register
    def _(self, op: ops.Memcpy) -> Generator:
        name = next((s.name for s in self._shared.program.streams if s.kind == "legacy"), None)
        if name is None:
            raise GpusimError(
                "cudaMemcpy works on the legacy stream: declare a stream of kind legacy, or use MemcpyAsync"
            )
        stream = self._stream(name)
        yield from self.busy("issue", self._costs.call("memcpy"), op.chunk)
        if not op.pinned and op.direction in ("h2d", "d2h"):
            # In order with all blocking streams before the host touches a buffer.
            for item in self._device.streams.ahead_of(stream):
                yield from self.until(item, "host_sync", op.chunk)
            yield from self._staged(op, stream)
            return
        inner = ops.MemcpyAsync(op.direction, op.bytes, name, op.pinned, chunk=op.chunk)
        item = self._device.streams.enqueue(stream, "copy", op.direction, op.chunk, inner)
        if op.direction != "d2d":
            yield from self.until(item, "host_sync", op.chunk)
            yield from self.busy("issue", self._costs.call("sync_wake"), op.chunk)

    @call.register
    def _(self, op: ops.EventRecord) -> Generator:
        self._shared.events[op.event] = yield from self._enqueue(op, "marker", "record", "event_record")

    @call.register
    def _(self, op: ops.StreamWaitEvent) -> Generator:
        yield from self.busy("issue", self._costs.call("stream_wait_event"), op.chunk)
        item = self._event(op.event)
        if item is not None:
            self._stream(op.stream).waits.append(item)

    def _event(self, name: str) -> Item | None:
        """The latest record; None if there has been none yet, which CUDA takes as done."""
        if name not in self._shared.recorded:
            raise GpusimError(f"event {name!r} is waited for but never recorded")
        return self._shared.events.get(name)

    @call.register
    def _(self, op: ops.HostFunc) -> Generator:
        yield from self._enqueue(op, "func", "host function", "host_func")

    @call.register
    def _(self, op: ops.AcquireSlot) -> Generator:
        ring = self._device.slots.get(op.slots)
        if ring is None:
            raise GpusimError(f"slots {op.slots!r} are not declared")
        yield from self.busy("issue", self._costs.call("acquire"), op.chunk)
        given, start = ring.take(), self._sim.now
        if given is None:
            return
        yield from self._sim.wait(given, self.lane, "memory_pool", ring)
        slept = self._sim.now - start
        yield self._sim.timeout(self._costs.call("slot_wake") + self._shared.slot_wake.extra_s(slept))
        self._waited(start, "memory_pool", op.chunk, -1)

    @call.register
    def _(self, op: ops.StreamSync) -> Generator:
        yield from self._synchronise([self._stream(op.stream).last], op.chunk)

    @call.register
    def _(self, op: ops.EventSync) -> Generator:
        yield from self._synchronise([self._event(op.event)], op.chunk)

    @call.register
    def _(self, op: ops.DeviceSync) -> Generator:
        yield from self._synchronise([stream.last for stream in self._device.streams.all], op.chunk)

    def _synchronise(self, items: list[Item | None], chunk: int) -> Generator:
        pending = [item for item in items if item is not None and not item.finished]
        yield from self.busy("issue", self._costs.call("sync"), chunk)
        for item in pending:
            yield from self.until(item, "host_sync", chunk)
        if pending:
            yield from self.busy("issue", self._costs.call("sync_wake"), chunk)
        for pool in self._shared.pools.values():
            yield from self.busy("alloc", pool.release(), chunk)

    @call.register
    def _(self, op: ops.GraphLaunch) -> Generator:
        try:
            graph = self._shared.program.graph(op.graph)
        except KeyError:
            raise GpusimError(f"graph {op.graph!r} is not declared") from None
        nodes = sum(isinstance(o, ops.Launch | ops.MemcpyAsync | ops.HostFunc) for o in graph.ops)
        yield from self.busy("launch", self._costs.graph_launch(nodes), op.chunk)
        launch_graph(self._device.streams, self._stream(op.stream), graph)

    @call.register
    def _(self, op: ops.Malloc) -> Generator:
        self._new_buffer(op.buffer, "device", op.bytes)
        seconds = self._shared.pages.take(op.buffer, op.bytes)
        yield from self._os_call(seconds, "alloc.waits", op.bytes, op.chunk)

    @call.register
    def _(self, op: ops.Free) -> Generator:
        size = self._gone(op.buffer, "device")
        busy = any(s.last is not None and not s.last.finished for s in self._device.streams.all)
        seconds = self._shared.pages.give(op.buffer, size, busy)
        yield from self._os_call(seconds, "alloc.free_waits", size, op.chunk)

    @call.register
    def _(self, op: ops.MallocHost) -> Generator:
        self._new_buffer(op.buffer, "pinned", op.bytes)
        yield from self._os_call(self._costs.sized("alloc.host", op.bytes), "alloc.host_waits", op.bytes, op.chunk)

    @call.register
    def _(self, op: ops.FreeHost) -> Generator:
        size = self._gone(op.buffer, "pinned")
        yield from self._os_call(self._costs.sized("alloc.host_free", size), "alloc.host_free_waits", size, op.chunk)

    def _os_call(self, seconds: float, waits: str, size: int, chunk: int) -> Generator:
        if self._costs.flag(waits):
            for stream in self._device.streams.all:
                if stream.last is not None:
                    yield from self.until(stream.last, "host_sync", chunk)
        yield from self.busy("alloc", seconds, chunk, size)

    def _pool(self, name: str) -> MemoryPool:
        if name not in self._shared.pools:
            raise GpusimError(f"pool {name!r} is not declared")
        return self._shared.pools[name]

    @call.register
    def _(self, op: ops.MallocAsync) -> Generator:
        pool, stream = self._pool(op.pool), self._stream(op.stream)
        self._new_buffer(op.buffer, op.pool, op.bytes)
        taken = pool.take(op.buffer, op.bytes, op.stream, set(stream.waits))
        if taken.grew and pool.caching and self._costs.flag("alloc.waits"):
            yield from self._os_call(0.0, "alloc.waits", 0, op.chunk)
        yield from self.busy("alloc", taken.seconds, op.chunk, op.bytes)

    @call.register
    def _(self, op: ops.FreeAsync) -> Generator:
        pool = self._pool(self._shared.buffers.get(op.buffer, ("", 0))[0] or "?")
        self._gone(op.buffer, pool.pool.name)
        seconds = pool.give(op.buffer, op.stream, self._stream(op.stream).last)
        yield from self.busy("alloc", seconds, op.chunk)

    def _new_buffer(self, name: str, where: str, size: int) -> None:
        if name in self._shared.buffers:
            raise GpusimError(f"buffer {name!r} is allocated twice; free it first or use another name")
        self._shared.buffers[name] = (where, size)

    def _gone(self, name: str, where: str) -> int:
        known, size = self._shared.buffers.get(name, ("", 0))
        if known != where:
            raise GpusimError(f"buffer {name!r} is freed but was not allocated that way")
        del self._shared.buffers[name]
        return size
