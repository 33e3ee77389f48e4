"""The calls of a host thread, one frozen value each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gpusim.program.host_parts import Direction, Work
from gpusim.program.kernel import KernelProgram

__all__ = [
    "OUTSIDE",
    "AcquireSlot",
    "DeviceSync",
    "EventRecord",
    "EventSync",
    "Free",
    "FreeAsync",
    "FreeHost",
    "GraphLaunch",
    "HostFunc",
    "HostOp",
    "HostWork",
    "Launch",
    "Malloc",
    "MallocAsync",
    "MallocHost",
    "Memcpy",
    "MemcpyAsync",
    "MemsetAsync",
    "ReleaseSlot",
    "SetDevice",
    "StreamOp",
    "StreamSync",
    "StreamWaitEvent",
]


OUTSIDE = -1
"""Number of a device that is none of the program's own."""


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

    ``over``: bytes of ordinary memory that such copies without a ``host`` go over again and again; 0: each its own.

    ``p2p`` is cudaMemcpyPeerAsync between the stream's device and the one with the number ``peer`` (`OUTSIDE`: one
    that the program has nothing else to do with): to it, or with ``pull`` from it.
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
    peer: int = OUTSIDE
    pull: bool = False
    over: int = 0


@dataclass(frozen=True, slots=True)
class Memcpy:
    """cudaMemcpy on the legacy stream: returns when the copy is done (pageable H2D: when staged).

    ``over``: as of a `MemcpyAsync`.
    """

    direction: Direction
    bytes: int
    pinned: bool = True
    host: str = ""
    device: str = ""
    host_offset: int = 0
    device_offset: int = 0
    chunk: int = -1
    over: int = 0


@dataclass(frozen=True, slots=True)
class MemsetAsync:
    """cudaMemsetAsync of device memory to zero; ``device_offset`` is bytes into the named buffer.

    ``device`` may be left out, as of a `MemcpyAsync`.
    """

    direction: ClassVar[str] = "memset"
    """It stands where a copy has its direction: the bytes of a memset come from nowhere."""

    bytes: int
    stream: str
    device: str = ""
    device_offset: int = 0
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel launch. ``buffer`` (``bytes`` from ``offset``) is what it works on, in place.

    ``programmatic`` (programmatic stream serialization): directly behind another kernel in its stream it may begin as
    soon as all blocks of that one have let it, or have ended.
    """

    kernel: Work | KernelProgram
    stream: str
    buffer: str = ""
    offset: int = 0
    bytes: int = 0
    chunk: int = -1
    programmatic: bool = False


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

    ``syncs`` names a stream the function waits for: forbidden by CUDA, and for its own stream a deadlock that is
    explained.
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
class ReleaseSlot:
    """The thread gives one of ``slots`` back."""

    slots: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class StreamSync:
    """cudaStreamSynchronize."""

    stream: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class EventSync:
    """cudaEventSynchronize; with ``poll`` the thread stays awake and asks in a loop (cudaEventQuery)."""

    event: str
    chunk: int = -1
    poll: bool = False


@dataclass(frozen=True, slots=True)
class SetDevice:
    """cudaSetDevice: what the thread launches, allocates and synchronises from now on is on this device.

    Each thread begins with device 0.
    """

    device: int
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class DeviceSync:
    """cudaDeviceSynchronize of the thread's current device."""

    chunk: int = -1


@dataclass(frozen=True, slots=True)
class GraphLaunch:
    """cudaGraphLaunch of a graph declared in the program."""

    graph: str
    stream: str
    chunk: int = -1


StreamOp = MemcpyAsync | MemsetAsync | Launch | EventRecord | StreamWaitEvent | HostFunc
"""Ops that may be captured into a graph."""

HostOp = (
    StreamOp | HostWork | Malloc | Free | MallocAsync | FreeAsync | MallocHost | FreeHost | Memcpy
    | AcquireSlot | ReleaseSlot | StreamSync | EventSync | DeviceSync | GraphLaunch | SetDevice
)  # fmt: skip
