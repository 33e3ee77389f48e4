"""The words of a host thread's op list in a scenario file, one model per call of `gpusim.program.host`.

``#`` at the end of the name of a buffer, an event or a slot stands for the number of the chunk, ``#-2`` for that of the
chunk two before (`gpusim.scenario.host.chunk_names`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from gpusim.scenario.fields import ByteCount, Count, Model, Name, Seconds
from gpusim.scenario.kernel.op_schema import MAX_TIMES, REPEAT
from gpusim.scenario.kernel.op_words import OpWord, step_model

__all__ = ["CHUNKED", "HOST_OPS", "HOST_STEPS", "DeviceNumber", "HostStep", "OnStream", "Size", "Time"]

CHUNKED = r"^[A-Za-z_][A-Za-z0-9_]*(#(-[1-9][0-9]{0,3})?)?$"
Chunked = Annotated[str, Field(pattern=CHUNKED, max_length=40)]
"""A name; ``#`` at its end becomes the number of the chunk, ``#-2`` that of the chunk two before."""
Size = Annotated[ByteCount, Field(gt=0, le=2**40)]

_LONG_S = 0.01
"""Plain numbers from here on are more likely of another unit."""


def _short(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= _LONG_S:
        raise ValueError(f"a plain number is seconds, and {value:g} s is long: write {value:g} us, or {value:g} s")
    return value


Time = Annotated[Seconds, Field(ge=0, le=3600), BeforeValidator(_short)]
"""How long a call takes; its field's name tells no unit, so that long ones spell it out."""


class Args(Model):
    """An op without arguments."""


class OnStream(Args):
    """An op in the order of a stream."""

    stream: Name | None = None
    """Default: the chunk's own; in a prologue or epilogue the first of `deal`, in a graph the first of all."""


class HostCopy(Args):
    """A copy that may have a side in host memory."""

    bytes: Size
    """Bytes of the copy."""
    pageable: bool = False
    """Ordinary host memory instead of page-locked."""
    over: Size | None = None
    """Ordinary memory that calls go over again and again: all of the program's in this direction that say the same size
    share it, other sizes are other memory. Default: each call has bytes of its own. The more of all this together is
    beyond what the host's cache holds (`pageable.cache`), the lower the rate."""


class Copy(HostCopy, OnStream):
    """cudaMemcpyAsync."""


MOST_DEVICES = 16
DeviceNumber = Annotated[Count, Field(ge=0, lt=MOST_DEVICES)]
"""Number of a device, from 0 on."""


class PeerCopy(OnStream):
    """cudaMemcpyPeerAsync."""

    bytes: Size
    """Bytes of the copy."""
    to_device: DeviceNumber | None = None
    """The device that is written; the stream's own one is read. Without this and `from_device` it is one that the
    program has nothing else to do with."""
    from_device: DeviceNumber | None = None
    """The device that is read, where the stream is one of the device that is written: this takes longer to begin and
    to end."""

    @model_validator(mode="after")
    def _one_way(self) -> PeerCopy:
        if self.to_device is not None and self.from_device is not None:
            raise ValueError("says to_device and from_device; the other end is the device of its stream, so say one")
        return self


class DeviceArgs(Args):
    """cudaSetDevice."""

    device: DeviceNumber
    """Number of the device."""


class Memset(OnStream):
    """cudaMemsetAsync."""

    bytes: Size
    """Bytes that are set."""


class SyncCopy(HostCopy):
    """cudaMemcpy."""

    direction: Literal["h2d", "d2h", "d2d"] = "h2d"
    """To the device, to the host, or within the device (which does not block the host)."""


class LaunchArgs(OnStream):
    """A kernel launch."""

    kernel: Name
    """One of `kernels`."""
    programmatic: bool = False
    """Launched with programmatic stream serialization (programmatic dependent launch): directly behind another kernel
    in its stream, or with nothing but a `record` between, it may begin while that one runs, as soon as all blocks of
    that have let it (`trigger`, `launch_dependents`) or have ended. A kernel given by its cost waits for the one ahead
    behind its `prologue`, one that is spelled out where it says `grid_dependency_wait`."""


class OnEvent(OnStream):
    """Record an event, or let a stream wait for its latest record."""

    event: Chunked
    """Name of the event, which exists from its first record."""


class EventArgs(Args):
    """cudaEventSynchronize."""

    event: Chunked
    """Name of the event."""
    poll: bool = False
    """Ask in a loop whether it has happened (`while not event.done`, cudaEventQuery) instead: the thread goes on at
    once, without `sync_wake`. In Python only where no other thread and no host function needs the interpreter."""


class BufferArgs(Args):
    """cudaFree, cudaFreeHost."""

    buffer: Chunked
    """Name that its allocation gave it."""


class Allocation(Args):
    """cudaMalloc, cudaMallocHost."""

    buffer: Chunked
    """Name that the op that frees it uses."""
    bytes: Size
    """Bytes of the buffer."""


class PoolAllocation(OnStream):
    """cudaMallocAsync."""

    buffer: Chunked
    """Name that `free_async` uses."""
    bytes: Size
    """Bytes of the buffer."""
    pool: Name = "default"
    """One of `pools`. The pool `default` is there without being declared, as in CUDA."""


class PoolFree(OnStream):
    """cudaFreeAsync."""

    buffer: Chunked
    """Name that `malloc_async` gave it."""


class Function(OnStream):
    """cudaLaunchHostFunc."""

    seconds: Time = 0.0
    """How long the function runs, on a thread of the driver that runs one after the other. Calling it, and giving back
    what it `releases`, is in what a host function costs anyway: 0 for one that does nothing else."""
    releases: Chunked | None = None
    """Slots of which it gives one back at its end."""
    syncs: Name | None = None
    """A stream it waits for: CUDA forbids that. Of its own stream it is a deadlock that is explained, of others
    doubtful."""


class SlotArgs(Args):
    """Take a slot, or give one back."""

    slots: Chunked
    """One of `slots`."""


class Busy(Args):
    """The thread does something of its own."""

    seconds: Time
    """How long; other threads go on meanwhile."""


class GraphArgs(OnStream):
    """cudaGraphLaunch."""

    graph: Name
    """One of `graphs`."""


_SIZE = int | str
_COPY = "cudaMemcpyAsync {}; the call returns at once where host memory is page-locked."
HOST_OPS: dict[str, OpWord] = {
    "h2d": OpWord(Copy, "bytes", _SIZE, about=_COPY.format("from the host to the device")),
    "d2h": OpWord(Copy, "bytes", _SIZE, about=_COPY.format("from the device to the host")),
    "d2d": OpWord(
        Copy, "bytes", _SIZE, about="cudaMemcpyAsync within the device: blocks on the SMs, not a copy engine."
    ),
    "p2p": OpWord(
        PeerCopy, "bytes", _SIZE,
        about="cudaMemcpyPeerAsync: a copy to or from another device, on an engine of its own of the one that is read.",
    ),
    "memset": OpWord(
        Memset, "bytes", _SIZE, about="cudaMemsetAsync of device memory: blocks on the SMs, as of `d2d`."
    ),
    "memcpy": OpWord(
        SyncCopy, "bytes", _SIZE,
        about="cudaMemcpy, on the legacy stream, which is there without being declared. It returns when the copy is "
        "done (from ordinary memory: when it is staged).",
    ),
    "launch": OpWord(LaunchArgs, "kernel", about="A kernel launch."),
    "record": OpWord(OnEvent, "event", about="cudaEventRecord, without timing."),
    "wait_event": OpWord(
        OnEvent, "event", about="cudaStreamWaitEvent: what follows in the stream waits for the event's latest record."
    ),
    "malloc": OpWord(Allocation, about="cudaMalloc."),
    "free": OpWord(BufferArgs, "buffer", about="cudaFree of a `malloc`; it waits for all work of the device."),
    "malloc_async": OpWord(
        PoolAllocation, about="cudaMallocAsync, or with a pool of kind `caching` what a framework's allocator does."
    ),
    "free_async": OpWord(PoolFree, "buffer", about="cudaFreeAsync of a `malloc_async`, to the pool it came from."),
    "malloc_host": OpWord(Allocation, about="cudaMallocHost: page-locked host memory."),
    "free_host": OpWord(BufferArgs, "buffer", about="cudaFreeHost of a `malloc_host`; it waits for the device."),
    "host_func": OpWord(
        Function, "releases", about="cudaLaunchHostFunc: a function of the host, called in the stream's order."
    ),
    "acquire": OpWord(SlotArgs, "slots", about="Wait until a slot is free and take it, as with a semaphore."),
    "release": OpWord(
        SlotArgs, "slots", about="The thread gives a slot back, as with a semaphore; another one may wait for it."
    ),
    "work": OpWord(Busy, "seconds", float | str, about="The thread is busy with something of its own."),
    "sync_stream": OpWord(OnStream, "stream", about="cudaStreamSynchronize."),
    "sync_event": OpWord(
        EventArgs, "event", about="cudaEventSynchronize: the thread waits for the event's latest record."
    ),
    "sync_device": OpWord(Args, about="cudaDeviceSynchronize, of the thread's current device."),
    "set_device": OpWord(
        DeviceArgs, "device", int,
        about="cudaSetDevice: kernels are launched, and memory is allocated, on the current device, at first 0.",
    ),
    "launch_graph": OpWord(GraphArgs, "graph", about="cudaGraphLaunch: one call for all ops of the graph."),
}  # fmt: skip
"""Every call of a host thread."""


class HostRepeat(Model):
    """Calls that are made several times, one turn after the other; it may hold others."""

    times: Annotated[Count, Field(ge=1, le=MAX_TIMES)]
    """Turns of the loop."""
    ops: Annotated[list[HostStep], Field(min_length=1)]
    """Its ops; all turns belong to the same chunk and stream, so that a name with `#` is the same in each turn."""


HOST_STEPS = {**HOST_OPS, REPEAT: OpWord(HostRepeat, about="Ops that are called several times in a row, as in a loop.")}
"""Every word that a step of a host thread's op list may have."""

HostStep = step_model("HostStep", HOST_STEPS, "{h2d: 4 MiB}")
HostRepeat.model_rebuild()
