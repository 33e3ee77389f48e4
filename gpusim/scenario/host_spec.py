"""A spelled-out host program of a scenario file as a `HostProgram`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from gpusim.program import KernelProgram
from gpusim.program import host as ops
from gpusim.scenario.host_calls import Call, calls_of_graph, calls_of_thread
from gpusim.scenario.host_schema import DEFAULT_POOL, SpelledHost, WorkSpec

__all__ = ["build_host"]

_LEGACY = "NULL stream"
"""The legacy stream of a program that declares none; no name of a file has a blank."""

KernelOf = Callable[[Any, tuple[str, ...]], KernelProgram]
"""Makes the program of a technique or of a spelled-out kernel."""


def build_host(host: SpelledHost, kernel_of: KernelOf) -> ops.HostProgram:
    """The program of ``host``, whose names have been checked (`host_problems`)."""
    kernels = {
        name: _work(name, spec) if isinstance(spec, WorkSpec) else kernel_of(spec, ("kernels", name))
        for name, spec in host.kernels.items()
    }
    build = partial(_op, kernels)
    threads = tuple(
        ops.HostThread(name, tuple(map(build, calls_of_thread(host, name))), spec.warm)
        for name, spec in host.threads.items()
    )
    graphs = tuple(ops.Graph(name, tuple(map(build, calls_of_graph(host, name)))) for name in host.graphs)
    chunks = max(thread.chunks for thread in host.threads.values())
    return ops.HostProgram(
        "host",
        threads,
        streams=tuple(_streams(host, threads)),
        pools=tuple(ops.Pool(n, p.kind, p.release_threshold, p.limit) for n, p in (DEFAULT_POOL | host.pools).items()),
        slots=tuple(ops.Slots(n, count) for name, count in host.slots.items() for n in _numbered(name, chunks)),
        graphs=graphs,
    )


def _streams(host: SpelledHost, threads: tuple[ops.HostThread, ...]) -> Iterator[ops.Stream]:
    """The streams that are declared, and the legacy stream where cudaMemcpy needs one: CUDA always has it."""
    for name, spec in host.streams.items():
        yield ops.Stream(name, spec.kind, spec.priority)
    declared = any(spec.kind == "legacy" for spec in host.streams.values())
    if not declared and any(isinstance(op, ops.Memcpy) for thread in threads for op in thread.ops):
        yield ops.Stream(_LEGACY, "legacy")


def _numbered(name: str, chunks: int) -> list[str]:
    return [f"{name[:-1]}{chunk}" for chunk in range(chunks)] if name.endswith("#") else [name]


def _work(name: str, spec: WorkSpec) -> ops.Work:
    cost = ops.FixedCost(spec.duration) if spec.duration is not None else ops.RooflineCost(spec.flop, spec.bytes)
    return ops.Work(cost, spec.blocks, spec.threads, spec.registers, spec.shared_bytes, name)


def _op(kernels: Mapping[str, ops.Work | KernelProgram], call: Call) -> Any:
    """The op of a call."""
    word, spec, chunk, stream, names = call.word, call.args, call.chunk, call.stream, call.names
    if word in ops.DIRECTIONS:  # the words of asynchronous copies
        return ops.MemcpyAsync(word, spec.bytes, stream, not spec.pageable, chunk=chunk)
    make: dict[str, Callable[[], Any]] = {
        "memset": lambda: ops.MemsetAsync(spec.bytes, stream, chunk=chunk),
        "memcpy": lambda: ops.Memcpy(spec.direction, spec.bytes, not spec.pageable, chunk=chunk),
        "launch": lambda: ops.Launch(kernels[spec.kernel], stream, chunk=chunk),
        "record": lambda: ops.EventRecord(names["event"], stream, chunk),
        "wait_event": lambda: ops.StreamWaitEvent(names["event"], stream, chunk),
        "malloc": lambda: ops.Malloc(names["buffer"], spec.bytes, chunk),
        "free": lambda: ops.Free(names["buffer"], chunk),
        "malloc_async": lambda: ops.MallocAsync(names["buffer"], spec.bytes, stream, spec.pool, chunk),
        "free_async": lambda: ops.FreeAsync(names["buffer"], stream, chunk),
        "malloc_host": lambda: ops.MallocHost(names["buffer"], spec.bytes, chunk),
        "free_host": lambda: ops.FreeHost(names["buffer"], chunk),
        "host_func": lambda: ops.HostFunc(stream, spec.seconds, names["releases"], spec.syncs or "", chunk),
        "acquire": lambda: ops.AcquireSlot(names["slots"], chunk),
        "release": lambda: ops.ReleaseSlot(names["slots"], chunk),
        "work": lambda: ops.HostWork(spec.seconds, chunk=chunk),
        "sync_stream": lambda: ops.StreamSync(stream, chunk),
        "sync_event": lambda: ops.EventSync(names["event"], chunk),
        "sync_device": lambda: ops.DeviceSync(chunk),
        "launch_graph": lambda: ops.GraphLaunch(spec.graph, stream, chunk),
    }
    return make[word]()
