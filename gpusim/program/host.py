"""What host threads ask of the CUDA runtime, in the order in which they ask.

Every op is frozen data: bytes, streams, events, buffers; never how long a call or a copy
takes. The one exception is work whose duration is the user's own statement: `HostWork`, the
body of a `HostFunc`, and a kernel given as a `FixedCost`. ``chunk`` says to which chunk,
batch or task an op belongs (the ``tile`` of its intervals), -1 for none.

Streams, events, buffers and slots are names. A stream that is not declared in the
program is an error, an event exists from its first record, a buffer from its allocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gpusim.program.host_ops import (
    OUTSIDE,
    AcquireSlot,
    DeviceSync,
    EventRecord,
    EventSync,
    Free,
    FreeAsync,
    FreeHost,
    GraphLaunch,
    HostFunc,
    HostOp,
    HostWork,
    Launch,
    Malloc,
    MallocAsync,
    MallocHost,
    Memcpy,
    MemcpyAsync,
    MemsetAsync,
    ReleaseSlot,
    SetDevice,
    StreamOp,
    StreamSync,
    StreamWaitEvent,
)
from gpusim.program.host_parts import (
    AT_BEGINNING,
    BETWEEN_DEVICE_MEMORY,
    DIRECTIONS,
    ON_DEVICE,
    TO_OR_FROM_HOST,
    Buffer,
    FixedCost,
    Place,
    Pool,
    RooflineCost,
    Slots,
    Stream,
    Work,
)

__all__ = [
    "AT_BEGINNING",
    "BETWEEN_DEVICE_MEMORY",
    "DIRECTIONS",
    "ON_DEVICE",
    "OUTSIDE",
    "TO_OR_FROM_HOST",
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
    "MemsetAsync",
    "Place",
    "Pool",
    "ReleaseSlot",
    "RooflineCost",
    "SetDevice",
    "Slots",
    "Stream",
    "StreamOp",
    "StreamSync",
    "StreamWaitEvent",
    "Work",
]


@dataclass(frozen=True, slots=True)
class Graph:
    """What was captured: ops on streams that fork from and join the first op's stream by events."""

    name: str
    ops: tuple[StreamOp, ...]


@dataclass(frozen=True, slots=True)
class HostThread:
    """One thread of the host and the calls it makes; a ``warm`` one has launched kernels before."""

    name: str
    ops: tuple[HostOp, ...]
    warm: bool = False


@dataclass(frozen=True)
class HostProgram:
    """Host threads and what they use.

    The program starts with idle devices and ends when every thread has made its calls and
    one of them has then synchronised each device.
    """

    name: str
    threads: tuple[HostThread, ...]
    streams: tuple[Stream, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    pools: tuple[Pool, ...] = ()
    slots: tuple[Slots, ...] = ()
    graphs: tuple[Graph, ...] = ()

    @cached_property
    def devices(self) -> int:
        """How many devices its streams, its memory and the other ends of its copies are on."""
        parts = (*self.streams, *self.buffers, *self.pools)
        calls = (op for part in (*self.threads, *self.graphs) for op in part.ops)
        peers = (op.peer for op in calls if isinstance(op, MemcpyAsync))
        return 1 + max((*(part.device for part in parts), *peers), default=0)

    @property
    def waits_in_chunks(self) -> bool:
        """Whether a thread waits for the device in more than one of its chunks, so that they cannot overlap."""
        waits = (StreamSync, EventSync, DeviceSync, Memcpy)
        return any(
            len({op.chunk for op in thread.ops if isinstance(op, waits) and op.chunk >= 0}) > 1
            for thread in self.threads
        )

    def graph(self, name: str) -> Graph:
        """The graph called ``name``. Raises KeyError if it is not declared."""
        for graph in self.graphs:
            if graph.name == name:
                return graph
        raise KeyError(name)
