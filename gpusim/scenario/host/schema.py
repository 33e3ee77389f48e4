"""``host:`` of a scenario file: streams, kernels, pools, slots, graphs, and what each host thread calls, per chunk.

A thread runs its ``prologue``, then ``per_chunk`` once for each chunk, then its ``epilogue``. An op without ``stream``
in ``per_chunk`` goes to the chunk's own stream: the streams of ``deal`` (default: all) in turn. The words of the op
lists are in `words`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from gpusim.program.registers import MOST_REGISTERS
from gpusim.scenario.fields import ByteCount, Count, Model, Name, Number
from gpusim.scenario.host.words import DeviceNumber, HostStep, Size, Time
from gpusim.scenario.kernel.schema import SpelledKernel, TechniqueKernel

__all__ = [
    "CHUNKED_KEY",
    "DEFAULT_POOL",
    "MAX_STREAMS",
    "GraphSpec",
    "PoolSpec",
    "SpelledHost",
    "StreamSpec",
    "ThreadSpec",
    "WorkSpec",
]

MAX_CHUNKS = 4096
MAX_STREAMS = 512


def _trigger(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value != "first" and not (number and 0.0 <= value <= 1.0):
        raise ValueError('expected a part from 0 to 1, or "first"')
    return value


Trigger = Annotated[
    float | Literal["first"], BeforeValidator(_trigger, json_schema_input_type=float | Literal["first"])
]


class StreamSpec(Model):
    """A stream. Priorities as CUDA has them: lower numbers go first."""

    kind: Literal["blocking", "non_blocking", "legacy", "per_thread"] = "non_blocking"
    """blocking: waits for the legacy stream, and it for this one. legacy: the NULL stream. per_thread: each thread's
    own default stream, which is blocking."""
    priority: Annotated[Count, Field(ge=-5, le=0)] = 0
    """Priority of its kernels, from -5 to 0: where blocks of several wait for room, lower numbers go first,
    and of equal ones all blocks of the kernel that came first. Blocks that run are not interrupted."""
    device: DeviceNumber = 0
    """Number of the GPU that it is on. All GPUs of a program are of the scenario's `device`, see each other's memory,
    and there are as many as the numbers of streams, pools and copies say."""


class WorkSpec(Model):
    """A kernel that is not spelled out: its footprint, and its duration or its work."""

    duration: Time | None = None
    """Each block stays on its SM so long, whatever else runs, from its first instruction to its last; a profiler shows
    about a microsecond more. Blocks beyond those that fit come in waves."""
    flop: Annotated[Number, Field(ge=0, le=1e18)] = 0.0
    """FP32 operations of the whole grid, an FMA counting as two, at the peak of the SMs that have blocks."""
    bytes: Annotated[ByteCount, Field(ge=0)] = 0
    """Bytes that the whole grid reads and writes, at the bandwidth of device memory, which kernels that run at the same
    time share. Nothing is found in L2."""
    writes: Annotated[ByteCount, Field(ge=0)] = 0
    """How many of these ``bytes`` it writes; without it all are priced as reads, which cost less."""
    blocks: Annotated[Count, Field(ge=1, le=2**31 - 1)] = 1
    """Blocks of the grid."""
    threads: Annotated[Count, Field(ge=1, le=1024)] = 128
    """Threads of a block."""
    registers: Annotated[Count, Field(ge=1, le=MOST_REGISTERS)] = 32
    """Registers of a thread."""
    shared_bytes: Annotated[ByteCount, Field(le=2**20)] = 0
    """Bytes of shared memory of a block."""
    prologue: Time = 0.0
    """What each block does first, besides its cost, that needs nothing of the kernel ahead in its stream. A
    `programmatic` launch gets so far while that one runs, and then waits for it (griddepcontrol.wait)."""
    trigger: Trigger = 1.0
    """Part of the cost of a block, 0 to 1, after which it lets a `programmatic` launch behind it begin
    (griddepcontrol.launch_dependents), or `first`: even before its prologue. That launch begins when all blocks have
    let it or have ended, and there is room."""

    @model_validator(mode="after")
    def _one_cost(self) -> WorkSpec:
        if not self.model_fields_set & {"duration", "flop", "bytes"}:
            raise ValueError("does not say what it costs; say duration, or bytes and flop, or spell it out with roles")
        if self.duration is not None and (self.flop or self.bytes):
            raise ValueError("says its duration and its work; say duration, or bytes and flop, not both")
        if self.writes > self.bytes:
            raise ValueError("writes is a part of bytes, which are all that it reads and writes")
        return self


class PoolSpec(Model):
    """Where ``malloc_async`` takes memory from."""

    kind: Literal["driver", "caching"] = "driver"
    """driver: a CUDA memory pool. caching: a framework's own allocator, which keeps blocks by stream and calls
    cudaMalloc when none fits, as CuPy's does."""
    release_threshold: Annotated[ByteCount, Field(ge=0)] = 0
    """Bytes that a driver pool keeps; what is free beyond goes back whenever the host synchronises."""
    limit: Size | None = None
    """Bytes that the pool may hold; one that needs more gives back what is free, and fails if that is not enough. A
    driver pool takes memory in pieces of 32 MiB, and its limit is rounded up to whole ones, as by CUDA."""
    device: DeviceNumber = 0
    """Number of the GPU whose memory it is."""


class GraphSpec(Model):
    """Calls that were captured into a graph."""

    ops: Annotated[list[HostStep], Field(min_length=1, max_length=2000)]
    """Copies, `memset`, launches, `record`, `wait_event`, `host_func`, and `repeat` of these. The stream of the
    first becomes the one that the graph is launched into; others fork from it and join it by events, which are the
    graph's own."""


class ThreadSpec(Model):
    """What one host thread calls."""

    chunks: Annotated[Count, Field(ge=0, le=MAX_CHUNKS)] = 1
    """How often `per_chunk` runs."""
    deal: Annotated[list[Name], Field(min_length=1)] | None = None
    """Streams that the chunks go to in turn; default: all, in the order in which they are declared."""
    breadth_first: Annotated[Count, Field(ge=1, le=MAX_CHUNKS)] = 1
    """So many chunks at a time go op by op: the first op of `per_chunk` for each of them, then the second for each. 1
    is depth first, all ops of a chunk before the next one's."""
    warm: bool = False
    """Of several threads: it has launched kernels before, as one of a pool that is kept alive. The first launch of a
    new thread takes longer."""
    prologue: list[HostStep] = []
    """Calls made once, before the first chunk."""
    per_chunk: list[HostStep] = []
    """Calls for each chunk."""
    epilogue: list[HostStep] = []
    """Calls made once, after the last chunk."""


def _form_of_kernel(value: Any) -> str:
    if isinstance(value, dict):
        return "technique" if "technique" in value else "spelled" if "roles" in value else "work"
    return {TechniqueKernel: "technique", SpelledKernel: "spelled"}.get(type(value), "work")


HostKernel = Annotated[
    Annotated[TechniqueKernel, Tag("technique")]
    | Annotated[SpelledKernel, Tag("spelled")]
    | Annotated[WorkSpec, Tag("work")],
    Discriminator(_form_of_kernel),
]


CHUNKED_KEY = r"^[A-Za-z_][A-Za-z0-9_]*#?$"
ChunkedKey = Annotated[str, Field(pattern=CHUNKED_KEY, max_length=40)]
"""A name; with ``#`` at its end one for each chunk."""
DEFAULT_POOL = {"default": PoolSpec()}
"""The pool that is there without being declared, as in CUDA."""


def _streams(value: Any) -> Any:
    """``streams: 3`` is short for three non-blocking streams s0, s1, s2."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_STREAMS:
        return {f"s{i}": {} for i in range(value)}
    if isinstance(value, dict):
        return value
    raise ValueError(
        f"expected their number (1 to {MAX_STREAMS}), or a mapping by name such as {{copy: {{}}, work: {{}}}}"
    )


class SpelledHost(Model):
    """A host program spelled out."""

    api: Literal["cupy", "cuda"] = "cupy"
    """Whose calls they are, and so what each costs: those of Python through CuPy, or of C++."""
    streams: Annotated[
        dict[Name, StreamSpec], BeforeValidator(_streams, json_schema_input_type=int | dict[str, StreamSpec]),
        Field(min_length=1, max_length=MAX_STREAMS),
    ] = {"s0": StreamSpec()}  # fmt: skip
    """Streams by name; a number n is short for n non-blocking ones s0, s1, …."""
    kernels: dict[Name, HostKernel] = {}
    """Kernels by name: what they cost (below), or a technique, or spelled out as in [ops.md](ops.md)."""
    pools: dict[Name, PoolSpec] = {}
    """Memory pools by name, empty at the start; `default` need not be declared."""
    slots: dict[ChunkedKey, Annotated[Count, Field(ge=0, le=65536)]] = {}
    """Tokens by name and how many there are, as in a semaphore; a name with `#` is a set of them for each chunk."""
    graphs: dict[Name, GraphSpec] = {}
    """Graphs by name. They exist before the program starts: neither capture nor instantiation is part of it."""
    threads: Annotated[dict[Name, ThreadSpec], Field(min_length=1, max_length=64)]
    """Threads by name; all begin at the same time."""
