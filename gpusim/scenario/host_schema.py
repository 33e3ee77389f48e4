"""``host:`` of a scenario file: streams, kernels, buffers and what each host thread calls, per chunk.

A thread runs its ``prologue``, then ``per_chunk`` once for each chunk, then its ``epilogue``. An op without ``stream``
in ``per_chunk`` goes to the chunk's own stream: the streams of ``deal`` (default: all) in turn. ``#`` at the end of
the name of a buffer, an event or a slot stands for the number of the chunk.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from gpusim.scenario.fields import ByteCount, Count, Model, Name, Number, Seconds
from gpusim.scenario.kernel_schema import SpelledKernel, TechniqueKernel
from gpusim.scenario.op_words import OpWord, step_model

__all__ = ["HOST_OPS", "HostStep", "SpelledHost", "ThreadSpec", "WorkSpec"]

MAX_CHUNKS = 4096

Chunked = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*#?$", max_length=40)]
"""A name; a ``#`` at its end becomes the number of the chunk."""
Size = Annotated[ByteCount, Field(gt=0, le=2**40)]
Time = Annotated[Seconds, Field(ge=0, le=3600)]


class Args(Model):
    """An op without arguments."""


class OnStream(Args):
    """An op in the order of a stream."""

    stream: Name | None = None
    """Default: the chunk's own."""


class Copy(OnStream):
    """cudaMemcpyAsync."""

    bytes: Size
    pageable: bool = False
    """Ordinary host memory instead of page-locked."""


class SyncCopy(Args):
    """cudaMemcpy."""

    bytes: Size
    direction: Literal["h2d", "d2h", "d2d"] = "h2d"
    pageable: bool = False


class LaunchArgs(OnStream):
    """A kernel launch."""

    kernel: Name
    """One of ``kernels``."""


class OnEvent(OnStream):
    """Record an event, or let a stream wait for its latest record."""

    event: Chunked


class EventArgs(Args):
    """cudaEventSynchronize."""

    event: Chunked


class BufferArgs(Args):
    """cudaFree, cudaFreeHost."""

    buffer: Chunked


class Allocation(BufferArgs):
    """cudaMalloc, cudaMallocHost."""

    bytes: Size


class PoolAllocation(OnStream):
    """cudaMallocAsync."""

    buffer: Chunked
    bytes: Size
    pool: Name = "default"


class PoolFree(OnStream):
    """cudaFreeAsync."""

    buffer: Chunked


class Function(OnStream):
    """cudaLaunchHostFunc."""

    seconds: Time = 0.0
    releases: Chunked | None = None
    """Slots of which it gives one back."""
    syncs: Name | None = None
    """A stream it waits for; CUDA forbids that, and here it is a deadlock that is explained."""


class SlotArgs(Args):
    """Wait for a free slot and take it."""

    slots: Chunked


class Busy(Args):
    """The thread does something of its own."""

    seconds: Time


class GraphArgs(OnStream):
    """cudaGraphLaunch."""

    graph: Name


_SIZE = int | str
HOST_OPS: dict[str, OpWord] = {
    "h2d": OpWord(Copy, "bytes", _SIZE),
    "d2h": OpWord(Copy, "bytes", _SIZE),
    "d2d": OpWord(Copy, "bytes", _SIZE),
    "p2p": OpWord(Copy, "bytes", _SIZE),
    "memcpy": OpWord(SyncCopy, "bytes", _SIZE),
    "launch": OpWord(LaunchArgs, "kernel"),
    "record": OpWord(OnEvent, "event"),
    "wait_event": OpWord(OnEvent, "event"),
    "malloc": OpWord(Allocation),
    "free": OpWord(BufferArgs, "buffer"),
    "malloc_async": OpWord(PoolAllocation),
    "free_async": OpWord(PoolFree, "buffer"),
    "malloc_host": OpWord(Allocation),
    "free_host": OpWord(BufferArgs, "buffer"),
    "host_func": OpWord(Function, "releases"),
    "acquire": OpWord(SlotArgs, "slots"),
    "work": OpWord(Busy, "seconds", float | str),
    "sync_stream": OpWord(OnStream, "stream"),
    "sync_event": OpWord(EventArgs, "event"),
    "sync_device": OpWord(Args),
    "launch_graph": OpWord(GraphArgs, "graph"),
}
"""Every word of a host thread's op list."""

HostStep = step_model("HostStep", HOST_OPS, "{h2d: 4 MiB}")


class StreamSpec(Model):
    """A stream. Priorities as CUDA has them: lower numbers go first."""

    kind: Literal["blocking", "non_blocking", "legacy", "per_thread"] = "non_blocking"
    priority: Annotated[Count, Field(ge=-5, le=0)] = 0


class WorkSpec(Model):
    """A kernel that is not spelled out: its footprint, and its duration or its work."""

    duration: Time | None = None
    """Each block stays so long, whatever else runs."""
    flop: Annotated[Number, Field(ge=0, le=1e18)] = 0.0
    """FP32 operations of the whole grid."""
    bytes: Annotated[ByteCount, Field(ge=0)] = 0
    """Moved from or to device memory by the whole grid."""
    blocks: Annotated[Count, Field(ge=1, le=2**31 - 1)] = 1
    threads: Annotated[Count, Field(ge=1, le=1024)] = 128
    registers: Annotated[Count, Field(ge=1, le=255)] = 32
    shared_bytes: Annotated[ByteCount, Field(le=2**20)] = 0


class PoolSpec(Model):
    """Where ``malloc_async`` takes memory from."""

    kind: Literal["driver", "caching"] = "driver"
    release_threshold: Annotated[ByteCount, Field(ge=0)] = 0
    limit: Size | None = None


class GraphSpec(Model):
    """Calls that were captured into a graph."""

    ops: Annotated[list[HostStep], Field(min_length=1, max_length=2000)]


class ThreadSpec(Model):
    """What one host thread calls."""

    chunks: Annotated[Count, Field(ge=0, le=MAX_CHUNKS)] = 1
    deal: list[Name] | None = None
    """Streams that the chunks go to in turn."""
    prologue: list[HostStep] = []
    per_chunk: list[HostStep] = []
    epilogue: list[HostStep] = []


def _kernel_form(value: Any) -> str:
    if isinstance(value, dict):
        return "technique" if "technique" in value else "spelled" if "roles" in value else "work"
    return {TechniqueKernel: "technique", SpelledKernel: "spelled"}.get(type(value), "work")


HostKernel = Annotated[
    Annotated[TechniqueKernel, Tag("technique")]
    | Annotated[SpelledKernel, Tag("spelled")]
    | Annotated[WorkSpec, Tag("work")],
    Discriminator(_kernel_form),
]


def _streams(value: Any) -> Any:
    """``streams: 3`` is short for three non-blocking streams s0, s1, s2."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 512:
        return {f"s{i}": {} for i in range(value)}
    return value


class SpelledHost(Model):
    """A host program spelled out."""

    api: Literal["cupy", "cuda"] = "cupy"
    """Whose call costs: Python through CuPy, or C++."""
    streams: Annotated[
        dict[Name, StreamSpec], BeforeValidator(_streams, json_schema_input_type=int | dict[str, StreamSpec]),
        Field(min_length=1, max_length=512),
    ] = {"s0": StreamSpec()}  # fmt: skip
    kernels: dict[Name, HostKernel] = {}
    pools: dict[Name, PoolSpec] = {}
    slots: dict[Chunked, Annotated[Count, Field(ge=0, le=65536)]] = {}
    """Tokens by name; with ``#`` one such ring per chunk."""
    graphs: dict[Name, GraphSpec] = {}
    threads: Annotated[dict[Name, ThreadSpec], Field(min_length=1, max_length=64)]
