"""Ops of a host program as real calls: one closure per op, made before the clock starts.

The microbenchmarks of host costs use the same closures, so that "what a launch costs" is the
cost of the launch that a measured program makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatchmethod
from typing import Any

import numpy as np

from gpusim.program import KernelProgram
from gpusim.program import host as ops
from realkernels._harness.host_memory import Arena, Pointers
from realkernels._harness.host_threads import semaphores, work_for
from realkernels._harness.programmatic import launch
from realkernels._harness.work_kernel import early_kernel, early_times, work_kernel

__all__ = ["Call", "CallMaker"]

_KIND = {"h2d": 1, "d2h": 2, "d2d": 3}
"""cudaMemcpyKind."""

Call = Callable[[], object]


class CallMaker:
    """Turns ops of one program into closures over its streams, events and memory.

    ``kernels`` gives, for each `KernelProgram` by name, ``bind(pointer) -> args`` and the kernel to
    launch: an object with ``launch(args)`` on the current stream.
    """

    def __init__(
        self, program: ops.HostProgram, arena: Arena, kernels: Mapping[str, Callable[[int], Call]] | None = None
    ) -> None:
        import cupy

        self.program = program
        self.pointers = Pointers(program, arena)
        self._devices = {stream.name: stream.device for stream in program.streams}
        self.streams = {stream.name: _stream(stream) for stream in program.streams}
        self.slots = semaphores(program)
        self.pools = {pool.name: self.pointers.pool(pool) for pool in program.pools}
        self._kernels = dict(kernels or {})
        self._events: dict[str, Any] = {}
        self._graphs: dict[str, Any] = {}
        self._cupy = cupy

    def calls(self, operations: tuple) -> list[Call]:
        """One closure per op, in order."""
        return [self.call(op) for op in operations]

    def capture(self) -> None:
        """Capture the program's graphs; not part of any timed run."""
        for graph in self.program.graphs:
            origin = self.streams[graph.ops[0].stream]
            calls = self.calls(graph.ops)
            origin.begin_capture()
            for call in calls:
                call()
            self._graphs[graph.name] = origin.end_capture()
            self._graphs[graph.name].upload(origin)
            origin.synchronize()

    @singledispatchmethod
    def call(self, op: Any) -> Call:
        raise TypeError(f"{type(op).__name__} cannot be run")

    @call.register
    def _(self, op: ops.HostWork) -> Call:
        return lambda: work_for(op.seconds)

    @call.register
    def _(self, op: ops.Launch) -> Call:
        stream = self.streams[op.stream]
        if isinstance(op.kernel, KernelProgram):
            bind = self._kernels[op.kernel.name]
            if self.pointers.static(op.buffer):
                launch = bind(self.pointers.at(op.buffer, op.offset))
            else:

                def launch() -> None:
                    bind(self.pointers.at(op.buffer, op.offset))()
        elif op.programmatic or op.kernel.prologue_s or op.kernel.trigger < 1.0:
            return self._early(op, op.kernel)
        else:
            launch = self._work(op, op.kernel)

        def run() -> None:
            with stream:
                launch()

        return run

    def _early(self, op: ops.Launch, work: ops.Work) -> Call:
        """A kernel that waits for the one ahead of it, launched so that it may begin during that one, or not."""
        if not self.pointers.static(op.buffer):
            raise ValueError("a programmatic launch on a buffer of a pool is for the model only")
        kernel, stream = early_kernel(work, self._devices[op.stream]), self.streams[op.stream]
        args = (np.uint64(self.pointers.at(op.buffer, op.offset)), np.uint64(op.bytes // 4), *early_times(work))
        return launch(kernel, work.grid, work.threads, args, work.shared_bytes, stream, programmatic=op.programmatic)

    def _work(self, op: ops.Launch, work: ops.Work) -> Call:
        kernel = work_kernel(work, self._devices[op.stream])
        grid, block, shared = (work.grid,), (work.threads,), work.shared_bytes
        words = np.uint64(op.bytes // 4)
        if isinstance(work.cost, ops.FixedCost):
            tail: tuple = (words, np.uint64(round(work.cost.seconds * 1e9)))
        else:
            rounds = round(work.cost.flop / 2 / max(op.bytes // 4, 1))
            tail = (words, np.uint32(rounds), np.float32(1), np.float32(0))
        if self.pointers.static(op.buffer):
            args = (np.uint64(self.pointers.at(op.buffer, op.offset)), *tail)
            return lambda: kernel(grid, block, args, shared_mem=shared)
        at, name, offset = self.pointers.at, op.buffer, op.offset
        return lambda: kernel(grid, block, (np.uint64(at(name, offset)), *tail), shared_mem=shared)

    @call.register
    def _(self, op: ops.MemcpyAsync) -> Call:
        if op.direction == "p2p":
            return self._peer(op)
        copy = self._cupy.cuda.runtime.memcpyAsync
        stream, kind, size = self.streams[op.stream].ptr, _KIND[op.direction], op.bytes
        ends = self._ends(op)
        if ends is not None:
            target, source = ends
            return lambda: copy(target, source, size, kind, stream)
        return lambda: copy(*self._ends_now(op), size, kind, stream)

    def _peer(self, op: ops.MemcpyAsync) -> Call:
        own = self._devices[op.stream]
        if op.peer not in range(self.program.devices) or not (op.host and op.device):
            raise ValueError("a copy to a device that the program does not use, or of no buffer, is for the model only")
        source_device, target_device = (op.peer, own) if op.pull else (own, op.peer)
        copy, size, stream = self._cupy.cuda.runtime.memcpyPeerAsync, op.bytes, self.streams[op.stream].ptr
        source, target = self.pointers.at(op.host, op.host_offset), self.pointers.at(op.device, op.device_offset)
        return lambda: copy(target, target_device, source, source_device, size, stream)

    @call.register
    def _(self, op: ops.SetDevice) -> Call:
        choose, device = self._cupy.cuda.runtime.setDevice, op.device
        return lambda: choose(device)

    @call.register
    def _(self, op: ops.MemsetAsync) -> Call:
        fill, stream, size = self._cupy.cuda.runtime.memsetAsync, self.streams[op.stream].ptr, op.bytes
        at, name, offset = self.pointers.at, op.device, op.device_offset
        if self.pointers.static(name):
            target = at(name, offset)
            return lambda: fill(target, 0, size, stream)
        return lambda: fill(at(name, offset), 0, size, stream)

    @call.register
    def _(self, op: ops.Memcpy) -> Call:
        copy, kind, size = self._cupy.cuda.runtime.memcpy, _KIND[op.direction], op.bytes
        ends = self._ends(op)
        if ends is not None:
            target, source = ends
            return lambda: copy(target, source, size, kind)
        return lambda: copy(*self._ends_now(op), size, kind)

    def _ends(self, op: Any) -> tuple[int, int] | None:
        """(target, source) if both are known before the program runs."""
        if self.pointers.static(op.host) and self.pointers.static(op.device):
            return self._ends_now(op)
        return None

    def _ends_now(self, op: Any) -> tuple[int, int]:
        place = "device" if op.direction in ops.BETWEEN_DEVICE_MEMORY else "pinned" if op.pinned else "pageable"
        host = self.pointers.at(op.host, op.host_offset, place, side=1)
        device = self.pointers.at(op.device, op.device_offset)
        return (host, device) if op.direction == "d2h" else (device, host)

    @call.register
    def _(self, op: ops.Malloc) -> Call:
        malloc, table, name, size = self._cupy.cuda.runtime.malloc, self.pointers.table, op.buffer, op.bytes

        def run() -> None:
            table[name] = malloc(size)

        return run

    @call.register
    def _(self, op: ops.Free) -> Call:
        free, table, name = self._cupy.cuda.runtime.free, self.pointers.table, op.buffer
        return lambda: free(table.pop(name))

    @call.register
    def _(self, op: ops.MallocAsync) -> Call:
        take, table, name, size = self.pools[op.pool].take, self.pointers.table, op.buffer, op.bytes
        stream = self.streams[op.stream]

        def run() -> None:
            table[name] = take(size, name, stream)

        return run

    @call.register
    def _(self, op: ops.FreeAsync) -> Call:
        every = (o for thread in self.program.threads for o in thread.ops)
        owner = next(o for o in every if isinstance(o, ops.MallocAsync) and o.buffer == op.buffer)
        give, table, name = self.pools[owner.pool].give, self.pointers.table, op.buffer
        stream = self.streams[op.stream]
        return lambda: give(table.pop(name), name, stream)

    @call.register
    def _(self, op: ops.MallocHost) -> Call:
        malloc, table, name, size = self._cupy.cuda.runtime.hostAlloc, self.pointers.table, op.buffer, op.bytes

        def run() -> None:
            table[name] = malloc(size, 0)

        return run

    @call.register
    def _(self, op: ops.FreeHost) -> Call:
        free, table, name = self._cupy.cuda.runtime.freeHost, self.pointers.table, op.buffer
        return lambda: free(table.pop(name))

    def _event(self, name: str) -> Any:
        """An event is on the device on which it is recorded."""
        if name not in self._events:
            parts = (*self.program.threads, *self.program.graphs)
            records = (op for part in parts for op in part.ops if isinstance(op, ops.EventRecord) and op.event == name)
            with self._cupy.cuda.Device(next((self._devices[op.stream] for op in records), 0)):
                self._events[name] = self._cupy.cuda.Event(disable_timing=True)
        return self._events[name]

    @call.register
    def _(self, op: ops.EventRecord) -> Call:
        event, stream = self._event(op.event), self.streams[op.stream]
        return lambda: event.record(stream)

    @call.register
    def _(self, op: ops.StreamWaitEvent) -> Call:
        event, stream = self._event(op.event), self.streams[op.stream]
        return lambda: stream.wait_event(event)

    @call.register
    def _(self, op: ops.EventSync) -> Call:
        event = self._event(op.event)

        def polled() -> None:
            while not event.done:
                pass

        return polled if op.poll else event.synchronize

    @call.register
    def _(self, op: ops.HostFunc) -> Call:
        if op.syncs:
            raise ValueError("a host function may not wait for a stream; this program is for the model only")
        stream, duration = self.streams[op.stream], op.seconds
        release = self.slots[op.releases].release if op.releases else None

        def callback(_: object) -> None:
            work_for(duration)
            if release is not None:
                release()

        return lambda: stream.launch_host_func(callback, None)

    @call.register
    def _(self, op: ops.AcquireSlot) -> Call:
        return self.slots[op.slots].acquire

    @call.register
    def _(self, op: ops.ReleaseSlot) -> Call:
        return self.slots[op.slots].release

    @call.register
    def _(self, op: ops.StreamSync) -> Call:
        return self.streams[op.stream].synchronize

    @call.register
    def _(self, _op: ops.DeviceSync) -> Call:
        return self._cupy.cuda.runtime.deviceSynchronize

    @call.register
    def _(self, op: ops.GraphLaunch) -> Call:
        graphs, name, stream = self._graphs, op.graph, self.streams[op.stream]
        return lambda: graphs[name].launch(stream)


def _stream(stream: ops.Stream) -> Any:
    import cupy

    if stream.kind == "legacy":
        return cupy.cuda.Stream.null
    if stream.kind == "per_thread":
        return cupy.cuda.Stream.ptds
    with cupy.cuda.Device(stream.device):
        return cupy.cuda.Stream(non_blocking=stream.kind == "non_blocking", priority=stream.priority or None)
