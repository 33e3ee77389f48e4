"""What host threads ask of the CUDA runtime, in the order in which they ask.

Every op is frozen data: bytes, streams, events, buffers; never how long a call or a copy
takes. The one exception is work whose duration is the user's own statement: `HostWork`, the
body of a `HostFunc`, and a kernel given as a `FixedCost`. ``chunk`` says to which chunk,
batch or task an op belongs (the ``tile`` of its intervals), -1 for none.

Streams, events, buffers and slots are names. A stream that is not declared in the
program is an error, an event exists from its first record, a buffer from its allocation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gpusim.program.kernel import KernelProgram

__all__ = [
    "AcquireSlot",
    "Buffer",
    "DeviceSync",
    "EventRecord",
    "EventSync",
    "FixedCost",
    "Free",
    "FreeAsync",
    "FreeHost",
    "Graph",
    "GraphLaunch",
    "HostFunc",
    "HostOp",
    "HostProgram",
    "HostThread",
    "HostWork",
    "Launch",
    "Malloc",
    "MallocAsync",
    "MallocHost",
    "Memcpy",
    "MemcpyAsync",
    "Pool",
    "RooflineCost",
    "Slots",
    "Stream",
    "StreamOp",
    "StreamSync",
    "StreamWaitEvent",
    "Work",
]

Direction = Literal["h2d", "d2h", "d2d", "p2p"]
StreamKind = Literal["blocking", "non_blocking", "legacy", "per_thread"]
PoolKind = Literal["driver", "caching"]
Place = Literal["device", "pinned", "pageable"]


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream. ``legacy`` is the NULL stream, ``per_thread`` the calling thread's default one.

    ``priority`` as CUDA has it: lower numbers go first, 0 is the default.
    """

    name: str
    kind: StreamKind = "blocking"
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that exists before the program starts; its allocation is not part of it."""

    name: str
    bytes: int
    place: Place


@dataclass(frozen=True, slots=True)
class Pool:
    """Where `MallocAsync` takes memory from; empty when the program starts.

    ``driver``: a stream-ordered CUDA pool; what is free above ``release_threshold`` bytes
    goes back to the OS when the host synchronises. ``caching``: an allocator in the host's
    language that keeps freed blocks by stream and calls cudaMalloc when it has none that fits.
    ``limit`` bounds the bytes of a caching allocator (None: the device's memory): beyond it the
    allocator synchronises the device and frees what it holds.
    """

    name: str
    kind: PoolKind = "driver"
    release_threshold: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Slots:
    """``count`` tokens that a host thread takes and a host function gives back."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class FixedCost:
    """Every block stays on its SM for ``seconds``, whatever else runs."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RooflineCost:
    """The whole grid does ``flop`` FP32 operations and moves ``bytes`` from or to HBM."""

    flop: float
    bytes: float


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel that is not spelled out: its footprint and what it costs.

    ``threads`` per block, ``registers`` per thread, ``shared_bytes`` per block.
    """

    cost: FixedCost | RooflineCost
    grid: int = 1
    threads: int = 128
    registers: int = 32
    shared_bytes: int = 0
    name: str = "kernel"


@dataclass(frozen=True, slots=True)
class HostWork:
    """The thread is busy with something of its own."""

    seconds: float
    label: str = ""
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class Malloc:
    """cudaMalloc."""

    buffer: str
    bytes: int
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class Free:
    """cudaFree of a `Malloc`."""

    buffer: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class MallocAsync:
    """cudaMallocAsync, or a request to the caching allocator, in the order of ``stream``."""

    buffer: str
    bytes: int
    stream: str
    pool: str = "default"
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class FreeAsync:
    """cudaFreeAsync of a `MallocAsync`, in the order of ``stream``."""

    buffer: str
    stream: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class MallocHost:
    """cudaMallocHost: page-locked host memory."""

    buffer: str
    bytes: int
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class FreeHost:
    """cudaFreeHost of a `MallocHost`."""

    buffer: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class MemcpyAsync:
    """cudaMemcpyAsync. ``pinned`` is about the host side; offsets are bytes into the named buffers.

    ``host`` and ``device`` may be left out: then the model assumes nothing about them and a
    measurement takes scratch memory. For ``d2d`` and ``p2p`` ``host`` names the source.
    """

    direction: Direction
    bytes: int
    stream: str
    pinned: bool = True
    host: str = ""
    device: str = ""
    host_offset: int = 0
    device_offset: int = 0
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class Memcpy:
    """cudaMemcpy on the legacy stream: returns when the copy is done (pageable H2D: when staged)."""

    direction: Direction
    bytes: int
    pinned: bool = True
    host: str = ""
    device: str = ""
    host_offset: int = 0
    device_offset: int = 0
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel launch. ``buffer`` (``bytes`` from ``offset``) is what it works on, in place."""

    kernel: Work | KernelProgram
    stream: str
    buffer: str = ""
    offset: int = 0
    bytes: int = 0
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class EventRecord:
    """cudaEventRecord (without timing)."""

    event: str
    stream: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class StreamWaitEvent:
    """cudaStreamWaitEvent: later work of ``stream`` waits for the latest record of ``event``."""

    event: str
    stream: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class HostFunc:
    """cudaLaunchHostFunc: a function of ``seconds`` on a driver thread that then gives back a slot.

    ``syncs`` names a stream the function waits for: forbidden by CUDA, and here a deadlock
    that is explained.
    """

    stream: str
    seconds: float = 0.0
    releases: str = ""
    syncs: str = ""
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class AcquireSlot:
    """The thread waits until one of ``slots`` is free and takes it."""

    slots: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class StreamSync:
    """cudaStreamSynchronize."""

    stream: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class EventSync:
    """cudaEventSynchronize."""

    event: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class DeviceSync:
    """cudaDeviceSynchronize."""

    chunk: int = -1


@dataclass(frozen=True, slots=True)
class GraphLaunch:
    """cudaGraphLaunch of a graph declared in the program."""

    graph: str
    stream: str
    chunk: int = -1


StreamOp = MemcpyAsync | Launch | EventRecord | StreamWaitEvent | HostFunc
"""Ops that may be captured into a graph."""

HostOp = (
    StreamOp | HostWork | Malloc | Free | MallocAsync | FreeAsync | MallocHost | FreeHost | Memcpy
    | AcquireSlot | StreamSync | EventSync | DeviceSync | GraphLaunch
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Graph:
    """What was captured: ops on streams that fork from and join the first op's stream by events."""

    name: str
    ops: tuple[StreamOp, ...]


@dataclass(frozen=True, slots=True)
class HostThread:
    """One thread of the host and the calls it makes."""

    name: str
    ops: tuple[HostOp, ...]


@dataclass(frozen=True)
class HostProgram:
    """Host threads and what they use.

    The program starts with an idle device and ends when every thread has made its calls and
    one of them has then synchronised the device.
    """

    name: str
    threads: tuple[HostThread, ...]
    streams: tuple[Stream, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    pools: tuple[Pool, ...] = ()
    slots: tuple[Slots, ...] = ()
    graphs: tuple[Graph, ...] = ()
    notes: dict[str, float] = field(default_factory=dict)

    def stream(self, name: str) -> Stream:
        """The stream called ``name``. Raises KeyError if it is not declared."""
        for stream in self.streams:
            if stream.name == name:
                return stream
        raise KeyError(name)

    def graph(self, name: str) -> Graph:
        """The graph called ``name``. Raises KeyError if it is not declared."""
        for graph in self.graphs:
            if graph.name == name:
                return graph
        raise KeyError(name)
