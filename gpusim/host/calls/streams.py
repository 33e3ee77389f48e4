"""Calls that put work into streams.

Models: the cost of every such call, and what it costs more that is the first of its kind after a host function has run
  on the driver's thread; threads that keep each other out of the runtime; the first launch of a new thread (those of a
  program with several are new unless they are warm, the only thread of a program has launched before); calls that block
  (full queues, cudaMemcpy); staging of pageable memory inside the call; what CUDA refuses across devices.
Omits: which of the threads that want to get in is let in (here: who came first); what the creation of a thread's own
  stream takes (3 us in C++, nothing that could be told from the rest in Python).
Source: CUDA Runtime API (stream synchronization behavior); realkernels.microbench.host (calls, cpp, rules).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from gpusim.deadlock import HOST_FUNCTION
from gpusim.engine import Event
from gpusim.errors import GpusimError
from gpusim.host.calls.caller import Caller, Calls
from gpusim.host.calls.shared import Shared
from gpusim.host.device.graphs import launch_graph
from gpusim.host.device.work import Item, StreamState
from gpusim.program import host as ops

__all__ = ["StreamCalls"]

Queued = ops.Launch | ops.MemcpyAsync | ops.MemsetAsync | ops.EventRecord | ops.HostFunc
Enqueuing = Generator[Event, Any, Item]


SMALL_MEMSET = 8 << 10
"""Bytes that a command of the stream writes, and no kernel that is launched: 4 KiB are so few, 64 KiB are not
(realkernels.microbench.host calls, cpp: memset_async), nor are 16 KiB by the time on the device (copies: size)."""


class StreamCalls:
    """The calls of one thread that put work into streams."""

    def __init__(self, shared: Shared, caller: Caller) -> None:
        self._shared, self._caller = shared, caller
        self._sim, self._machine, self._costs = shared.sim, shared.machine, shared.costs
        self._functions_seen: dict[str, int] = {}
        """How many host functions had run when each kind of call was made last."""
        self._new = len(shared.program.threads) > 1 and not caller.warm
        """Whether the thread has not launched yet."""
        self.calls: Calls = {
            ops.Launch: self._launch,
            ops.MemcpyAsync: self._memcpy_async,
            ops.MemsetAsync: self._memset_async,
            ops.Memcpy: self._memcpy,
            ops.EventRecord: self._event_record,
            ops.StreamWaitEvent: self._stream_wait_event,
            ops.HostFunc: self._host_func,
            ops.GraphLaunch: self._graph_launch,
        }

    def _launch(self, op: ops.Launch) -> Generator:
        device, current = self._caller.stream(op.stream).spec.device, self._caller.device
        if device != current:
            raise GpusimError(
                f"kernel {op.kernel.name!r} is launched into stream {op.stream!r} of device {device} while device "
                f"{current} is the thread's current one, which CUDA refuses; set device {device} before it"
            )
        yield from self._enqueue(op, "kernel", op.kernel.name, "launch", "launch")

    def _event_record(self, op: ops.EventRecord) -> Generator:
        before, device = self._shared.events.get(op.event), self._caller.stream(op.stream).spec.device
        if before is not None and before.stream.spec.device != device:
            raise GpusimError(
                f"event {op.event!r} is recorded on device {before.stream.spec.device} and on device {device}, which "
                "CUDA refuses: an event belongs to one device"
            )
        self._shared.events[op.event] = yield from self._enqueue(op, "marker", "record", "event_record")

    def _host_func(self, op: ops.HostFunc) -> Generator:
        yield from self._enqueue(op, "func", HOST_FUNCTION, "host_func")

    def _stream_wait_event(self, op: ops.StreamWaitEvent) -> Generator:
        item, stream = self._shared.event(op.event), self._caller.stream(op.stream)
        across = item is not None and item.stream.spec.device != stream.spec.device
        cost = self._costs.call("wait_peer_event" if across else "stream_wait_event")
        yield from self._caller.busy("issue", cost, op.chunk)
        # What has been recorded is looked at when the call returns: another thread may have recorded it again.
        item = self._shared.event(op.event)
        if item is not None:
            stream.waits.append(item)

    def _graph_launch(self, op: ops.GraphLaunch) -> Generator:
        try:
            graph = self._shared.program.graph(op.graph)
        except KeyError:
            raise GpusimError(f"graph {op.graph!r} is not declared") from None
        nodes = sum(isinstance(o, ops.Launch | ops.MemcpyAsync | ops.MemsetAsync | ops.HostFunc) for o in graph.ops)
        yield from self._caller.busy("launch", self._costs.graph_launch(nodes), op.chunk)
        launch_graph(self._machine.streams, self._caller.stream(op.stream), graph)

    def _memcpy_async(self, op: ops.MemcpyAsync) -> Generator:
        if op.direction == "p2p":
            self._check_peer(op)
            yield from self._enqueue(op, "copy", op.direction, "memcpy_pull" if op.pull else "memcpy_peer")
            return
        if op.pinned or op.direction in ops.BETWEEN_DEVICE_MEMORY:
            yield from self._enqueue(op, "copy", op.direction, "memcpy_async")
            return
        yield from self._caller.busy("issue", self._costs.call("memcpy_async"), op.chunk)
        yield from self._staged(op, self._caller.stream(op.stream))

    def _check_peer(self, op: ops.MemcpyAsync) -> None:
        own, way = self._caller.stream(op.stream).spec.device, "from" if op.pull else "to"
        if op.peer == own or (op.pull and op.peer == ops.OUTSIDE):
            which = f"device {op.peer}" if op.peer == own else "a device that is not named"
            raise GpusimError(f"a copy {way} {which} in stream {op.stream!r} of device {own}; it takes two devices")

    def _memset_async(self, op: ops.MemsetAsync) -> Generator:
        small = op.bytes <= SMALL_MEMSET
        yield from self._enqueue(op, "copy", op.direction, "memset_small" if small else "memset_async")

    def _memcpy(self, op: ops.Memcpy) -> Generator:
        caller, streams = self._caller, self._machine.streams
        specs = (s for s in self._shared.program.streams if s.kind == "legacy" and s.device == caller.device)
        name = next((s.name for s in specs), None)
        if name is None:
            raise GpusimError(
                "cudaMemcpy works on the legacy stream: declare a stream of kind legacy, or use MemcpyAsync"
            )
        stream = caller.stream(name)
        yield from caller.busy("issue", self._costs.call("memcpy"), op.chunk)
        if not op.pinned and op.direction in ops.TO_OR_FROM_HOST:
            # In order with all blocking streams before the host touches a buffer.
            for item in streams.ahead_of(stream):
                yield from caller.until(item, "host_sync", op.chunk)
            yield from self._staged(op, stream)
            return
        inner = ops.MemcpyAsync(op.direction, op.bytes, name, op.pinned, chunk=op.chunk)
        item = streams.enqueue(stream, "copy", op.direction, op.chunk, inner)
        if op.direction != "d2d":
            yield from caller.until(item, "host_sync", op.chunk)
            yield from caller.busy("issue", self._costs.call("sync_wake"), op.chunk)

    def _staged(self, op: ops.MemcpyAsync | ops.Memcpy, stream: StreamState) -> Generator:
        staging = self._shared.staging[stream.spec.device]
        if op.direction == "h2d":
            yield from staging.copy_in(self._caller, stream, op)
        else:
            yield from staging.copy_out(self._caller, stream, op, self._costs.call("sync_wake"))

    def _enqueue(self, op: Queued, kind: str, label: str, cost: str, shown: str = "issue") -> Enqueuing:
        """A call that puts work into a stream; it blocks while the stream's queue is full."""
        stream = self._caller.stream(op.stream)
        depth = self._machine.profile.value("stream.queue_depth")
        stream.drop_finished()
        if len(stream.queued) >= depth:
            yield from self._caller.until(stream.queued[0], "launch", op.chunk)
        first = self._new and kind == "kernel"
        self._new = self._new and not first
        yield from self._issue(shown, self._costs.call(cost) * self._after_function(cost), op.chunk, first)
        return self._machine.streams.enqueue(stream, kind, label, op.chunk, op)

    def _issue(self, shown: str, seconds: float, chunk: int, first: bool) -> Generator:
        """The time inside such a call; threads in such calls keep each other out for a part of it."""
        shared, caller, functions = self._shared, self._caller, self._machine.functions
        before = functions.called
        if first:
            seconds += self._costs.call("thread_first")
        if shared.running < 2:
            yield from caller.busy(shown, seconds, chunk)
            # In Python a host function needs the interpreter, which the thread then waits for.
            yield from caller.busy(shown, (functions.called - before) * self._costs.call("func_steals"), chunk)
            return
        locked = self._costs.call("thread_first_lock") if first else seconds * shared.lock_share
        yield from caller.busy(shown, max(seconds - locked, 0.0), chunk)
        lock = caller.device if self._costs.api == "cuda" else 0
        turn = max(self._sim.now, shared.lock_free_s[lock])
        shared.lock_free_s[lock] = turn + locked
        yield from caller.pause(turn - self._sim.now, "launch", chunk)
        yield from caller.busy(shown, locked, chunk)

    def _after_function(self, cost: str) -> float:
        """How much longer a call takes that is the first of its kind since a host function has run elsewhere."""
        called = self._machine.functions.called
        before, self._functions_seen[cost] = self._functions_seen.get(cost, 0), called
        return self._costs.call("after_func") if called > before else 1.0
