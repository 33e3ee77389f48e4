"""What host programs are made of besides calls: streams, buffers, pools, slots and kernels by what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = [
    "AT_BEGINNING",
    "BETWEEN_DEVICE_MEMORY",
    "DIRECTIONS",
    "ON_DEVICE",
    "TO_OR_FROM_HOST",
    "Buffer",
    "Direction",
    "FixedCost",
    "Place",
    "Pool",
    "RooflineCost",
    "Slots",
    "Stream",
    "Work",
]

Direction = Literal["h2d", "d2h", "d2d", "p2p"]
"""Way of a copy: host to device, device to host, within the device, to another device."""
DIRECTIONS = get_args(Direction)
TO_OR_FROM_HOST = ("h2d", "d2h")
"""Ways with a host side, which is page-locked or ordinary memory."""
BETWEEN_DEVICE_MEMORY = ("d2d", "p2p")
"""Ways without a host side."""
ON_DEVICE = ("d2d", "memset")
"""Ways of bytes that do not leave the device: SMs move them where it has engines for both directions."""
StreamKind = Literal["blocking", "non_blocking", "legacy", "per_thread"]
PoolKind = Literal["driver", "caching"]
Place = Literal["device", "pinned", "pageable"]

AT_BEGINNING = -1.0
"""``trigger`` of blocks that let the next kernel begin first of all, even before their prologue."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream. ``legacy`` is the NULL stream, ``per_thread`` the calling thread's default one.

    ``priority`` as CUDA has it: lower numbers go first, 0 is the default. ``device``: number of the GPU it is on.
    """

    name: str
    kind: StreamKind = "blocking"
    priority: int = 0
    device: int = 0


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that exists before the program starts; its allocation is not part of it.

    ``device``: number of the GPU that it is on, if it is on one.
    """

    name: str
    bytes: int
    place: Place
    device: int = 0


@dataclass(frozen=True, slots=True)
class Pool:
    """Where `MallocAsync` takes memory from; empty when the program starts.

    ``driver``: a stream-ordered CUDA pool; what is free above ``release_threshold`` bytes
    goes back to the OS when the host synchronises. ``caching``: an allocator in the host's
    language that keeps freed blocks by stream and calls cudaMalloc when it has none that fits.
    ``limit`` bounds the bytes that it holds (None: the device's memory); that of a driver pool is
    rounded up to whole chunks. A pool that needs more gives back what is free, and fails if that
    is not enough. Its memory is on the GPU with the number ``device``.
    """

    name: str
    kind: PoolKind = "driver"
    release_threshold: int = 0
    limit: int | None = None
    device: int = 0


@dataclass(frozen=True, slots=True)
class Slots:
    """``count`` tokens that a host thread takes and a host function, or a thread, gives back."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class FixedCost:
    """Every block stays on its SM for ``seconds``, whatever else runs."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RooflineCost:
    """The whole grid does ``flop`` FP32 operations and moves ``bytes`` from or to HBM, ``writes`` of them to it."""

    flop: float
    bytes: float
    writes: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel that is not spelled out: its footprint and what it costs.

    ``threads`` per block, ``registers`` per thread, ``shared_bytes`` per block. Before its cost each block is busy for
    ``prologue_s`` seconds with what needs nothing of the kernel ahead in its stream; then, if it was launched before
    that one had ended, it waits for it (griddepcontrol.wait). ``trigger`` is the part of its cost, 0..1, after which a
    block lets the next kernel begin (griddepcontrol.launch_dependents), or `AT_BEGINNING`.
    """

    cost: FixedCost | RooflineCost
    grid: int = 1
    threads: int = 128
    registers: int = 32
    shared_bytes: int = 0
    name: str = "kernel"
    prologue_s: float = 0.0
    trigger: float = 1.0
