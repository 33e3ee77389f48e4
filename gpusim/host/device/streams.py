"""Streams: which work waits for which, and how long the device takes from one to the next.

Models: order within a stream; events; the legacy stream, which waits for all blocking streams and which they wait for
  (per-thread default streams are blocking ones, of which each thread has one; non-blocking streams are not concerned);
  graphs, whose order is their edges; host functions, one at a time; a bounded number of launches in a stream;
  programmatic launches, which may begin while the kernel ahead runs. Through which hardware queue work goes, and what
  holds it up there, is said by `queues`.
Omits: stream priorities of copies; programmatic launches behind events of other streams (they wait as others do), and
  that of those which never wait for the kernel ahead no more than some ten run at a time in a stream.
Source: CUDA Runtime API (stream synchronization behavior); realkernels.microbench.host (device, rules).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from gpusim.engine import Event, Simulation
from gpusim.errors import GpusimError, listing, nearest
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.handover import HandOver
from gpusim.host.device.queues import HardwareQueues
from gpusim.host.device.work import COPY_ENGINES, DeviceOp, Item, StreamState, device_of, engine_of
from gpusim.program.host import EventRecord, HostProgram, Launch, Stream

__all__ = ["Streams", "kernel_ahead"]

Execute = Callable[[Item], Generator]


class Streams:
    """All streams of a program. ``execute(item)`` does the work once an item may start.

    ``prefixes``: what the lanes of each device's streams begin with.
    """

    def __init__(
        self, sim: Simulation, program: HostProgram, profile: DeviceProfile, execute: Execute, prefixes: Sequence[str]
    ) -> None:
        self._sim = sim
        self._execute = execute
        self._prefixes = prefixes
        self._hand_over = HandOver(profile)
        copies, kernels = (max(1, int(profile.value(key))) for key in ("copy.channels", "stream.connections"))
        self._queues = HardwareQueues(sim, {"compute": kernels, **dict.fromkeys(COPY_ENGINES, copies)})
        self._specs = {stream.name: (i, stream) for i, stream in enumerate(program.streams)}
        self._states: dict[str, StreamState] = {}
        self._legacy: dict[int, StreamState] = {}
        self._last_func: Item | None = None
        self._serial = self._graphs = 0
        self.items: list[Item] = []

    def key(self, name: str, thread: str) -> str:
        """Which stream ``thread`` means by ``name``: of the legacy ones, and of a thread's own, there is one a device.

        Raises GpusimError for an undeclared one.
        """
        if name not in self._specs:
            hint = nearest(name, self._specs)
            did = f". Did you mean {hint!r}?" if hint else ""
            raise GpusimError(f"stream {name!r} is not declared (declared: {listing(self._specs) or 'none'}){did}")
        _, spec = self._specs[name]
        if spec.kind == "legacy":
            return f"legacy {spec.device}"
        return f"own {spec.device} {thread}" if spec.kind == "per_thread" else f"stream {name}"

    def used(self, key: str) -> StreamState | None:
        """The stream with that key, if it has been used."""
        return self._states.get(key)

    def state(self, name: str, thread: str) -> StreamState:
        """The stream called ``name`` as ``thread`` sees it. Raises GpusimError for an undeclared one."""
        key = self.key(name, thread)
        if key not in self._states:
            number, spec = self._specs[name]
            others = any(other.spec.kind == spec.kind and other.spec.device == spec.device for other in self.all)
            suffix = f"@{thread}" if spec.kind == "per_thread" and others else ""
            state = StreamState(spec, f"{self._prefixes[spec.device]}stream[{number}{suffix}]")
            self._states[key] = state
            if spec.kind == "legacy":
                self._legacy[spec.device] = state
        return self._states[key]

    @property
    def all(self) -> list[StreamState]:
        """Streams that have been used."""
        return [*self._states.values()]

    def of(self, device: int) -> list[StreamState]:
        """Streams of a device that have been used."""
        return [stream for stream in self.all if stream.spec.device == device]

    def enqueue(self, stream: StreamState, kind: str, label: str, chunk: int, op: DeviceOp) -> Item:
        """Put work at the end of a stream; it starts by itself as soon as it may."""
        deps = [(item, "stream_order") for item in self.ahead_of(stream)]
        deps += [(item, "event") for item in stream.waits]
        stream.waits = []
        item = self.new_item(kind, stream, label, deps, chunk, op)
        item.behind = kernel_ahead(op, deps)
        stream.last = item
        stream.drop_finished()
        stream.queued.append(item)
        self.start(item)
        return item

    def ahead_of(self, stream: StreamState) -> list[Item]:
        """What the next item of a stream must wait for besides events."""
        items = [stream.last] if stream.last else []
        device = stream.spec.device
        legacy = self._legacy.get(device)
        if stream.spec.kind == "legacy":
            items += [s.last for s in self.of(device) if s.last and _blocking(s.spec)]
        elif legacy is not None and legacy.last is not None and _blocking(stream.spec):
            items.append(legacy.last)
        return items

    def next_graph(self) -> int:
        """A number for a launch of a graph."""
        self._graphs += 1
        return self._graphs

    def new_item(
        self,
        kind: str,
        stream: StreamState,
        label: str,
        deps: list[tuple[Item, str]],
        chunk: int,
        op: DeviceOp | None,
    ) -> Item:
        """An item that is not yet under way."""
        self._serial += 1
        chunk_text = f" of chunk {chunk}" if chunk >= 0 else ""
        text, engine = f"{label}{chunk_text} (#{self._serial})", engine_of(kind, op)
        device = device_of(op, stream)
        item = Item(kind, stream, text, self._sim.event(), op, engine, engine, device, deps, chunk, self._sim.now)
        if kind == "kernel":
            item.triggered = self._sim.event()
        self.items.append(item)
        return item

    def start(self, item: Item) -> None:
        """Let an item run when its dependencies are done."""
        stream = item.stream
        item.before = stream.ahead.get(item.engine)
        stream.ahead[item.engine] = item
        self._sim.process(self._run(item, self._queues.put(item)))

    def _run(self, item: Item, ahead: Item | None) -> Generator:
        sim = self._sim
        behind = item.behind
        for dep, why in item.deps:
            over = dep.done if behind is None else behind.triggered
            if not over.triggered:
                yield from sim.wait(over, item.name, why, behind or dep)
                item.reason = why
        if ahead is not None and not self._queues.handed_out(ahead).triggered:
            yield from sim.wait(self._queues.handed_out(ahead), item.name, "stream_order", ahead)
            item.reason = "stream_order"
        if item.kind == "func" and self._last_func is not None and not self._last_func.finished:
            before, self._last_func = self._last_func, item
            yield from sim.wait(before.done, item.name, "stream_order", before)
            item.reason = "stream_order"
        elif item.kind == "func":
            self._last_func = item
        ready = self._hand_over.ready(item, self._queues.others(item))
        self._queues.handed_out(item).succeed()
        if ready > sim.now:
            yield sim.timeout(ready - sim.now)
        item.ready_s = sim.now
        if behind is not None:
            item.released = self._released(item, behind, self._hand_over.waits_on_s(item))
        yield from self._execute(item)
        if behind is not None and not behind.finished:
            yield behind.done
        item.end_s = sim.now
        item.done.succeed()

    def _released(self, item: Item, behind: Item, waits_s: float) -> Event | None:
        """Happens ``waits_s`` after the end of the kernel ahead; None if that is past."""
        sim = self._sim
        released = sim.event()

        def over(_event: object) -> None:
            item.released_s = sim.now
            released.succeed()

        if not behind.finished:
            behind.done.callbacks.append(lambda _event: sim.call_after(waits_s, over))
        elif sim.now < behind.end_s + waits_s:
            sim.call_after(behind.end_s + waits_s - sim.now, over)
        else:
            return None
        return released


def kernel_ahead(op: DeviceOp | None, deps: list[tuple[Item, str]]) -> Item | None:
    """The kernel during which a programmatic launch may begin: it is all that this waits for, but for records."""
    if not (isinstance(op, Launch) and op.programmatic):
        return None
    while len(deps) == 1 and deps[0][1] == "stream_order":
        ((dep, _),) = deps
        if dep.kind == "kernel":
            return dep
        if not isinstance(dep.op, EventRecord):
            return None
        deps = dep.deps
    return None


def _blocking(spec: Stream) -> bool:
    return spec.kind in ("blocking", "per_thread")
