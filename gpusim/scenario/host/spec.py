"""A spelled-out host program of a scenario file as a `HostProgram`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gpusim.program import KernelProgram
from gpusim.program import host as ops
from gpusim.scenario.host.calls import Call, calls_of_graph, calls_of_thread
from gpusim.scenario.host.schema import DEFAULT_POOL, SpelledHost, WorkSpec

__all__ = ["build_host"]

_LEGACY = "NULL stream"
"""The legacy stream of a program that declares none; no name of a file has a blank."""

KernelOf = Callable[[Any, tuple[str, ...]], KernelProgram]
"""Makes the program of a technique or of a spelled-out kernel."""


def build_host(host: SpelledHost, kernel_of: KernelOf) -> ops.HostProgram:
    """The program of ``host``, whose names have been checked (`host_problems`)."""
    kernels = {
        name: _work(name, spec)
        if isinstance(spec, WorkSpec)
        else replace(kernel_of(spec, ("kernels", name)), name=name)
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
        pools=tuple(
            ops.Pool(n, p.kind, p.release_threshold, p.limit, p.device) for n, p in (DEFAULT_POOL | host.pools).items()
        ),
        slots=tuple(ops.Slots(n, count) for name, count in host.slots.items() for n in _numbered(name, chunks)),
        graphs=graphs,
    )


def _streams(host: SpelledHost, threads: tuple[ops.HostThread, ...]) -> Iterator[ops.Stream]:
    """The streams that are declared, and the legacy stream where cudaMemcpy needs one: CUDA always has it."""
    for name, spec in host.streams.items():
        yield ops.Stream(name, spec.kind, spec.priority, spec.device)
    declared = any(spec.kind == "legacy" for spec in host.streams.values())
    if not declared and any(isinstance(op, ops.Memcpy) for thread in threads for op in thread.ops):
        yield ops.Stream(_LEGACY, "legacy")


def _numbered(name: str, chunks: int) -> list[str]:
    return [f"{name[:-1]}{chunk}" for chunk in range(chunks)] if name.endswith("#") else [name]


def _work(name: str, spec: WorkSpec) -> ops.Work:
    cost = (
        ops.FixedCost(spec.duration)
        if spec.duration is not None
        else ops.RooflineCost(spec.flop, spec.bytes, spec.writes)
    )
    trigger = ops.AT_BEGINNING if spec.trigger == "first" else spec.trigger
    return ops.Work(cost, spec.blocks, spec.threads, spec.registers, spec.shared_bytes, name, spec.prologue, trigger)


_MAKE: dict[str, Callable[[Call, Mapping[str, ops.Work | KernelProgram]], ops.HostOp]] = {
    "p2p": lambda c, _: _peer_copy(c),
    "memset": lambda c, _: ops.MemsetAsync(c.args.bytes, c.stream, chunk=c.chunk),
    "memcpy": lambda c, _: ops.Memcpy(
        c.args.direction, c.args.bytes, not c.args.pageable, chunk=c.chunk, over=c.args.over or 0
    ),
    "launch": lambda c, kernels: ops.Launch(
        kernels[c.args.kernel], c.stream, chunk=c.chunk, programmatic=c.args.programmatic
    ),
    "record": lambda c, _: ops.EventRecord(c.names["event"], c.stream, c.chunk),
    "wait_event": lambda c, _: ops.StreamWaitEvent(c.names["event"], c.stream, c.chunk),
    "malloc": lambda c, _: ops.Malloc(c.names["buffer"], c.args.bytes, c.chunk),
    "free": lambda c, _: ops.Free(c.names["buffer"], c.chunk),
    "malloc_async": lambda c, _: ops.MallocAsync(c.names["buffer"], c.args.bytes, c.stream, c.args.pool, c.chunk),
    "free_async": lambda c, _: ops.FreeAsync(c.names["buffer"], c.stream, c.chunk),
    "malloc_host": lambda c, _: ops.MallocHost(c.names["buffer"], c.args.bytes, c.chunk),
    "free_host": lambda c, _: ops.FreeHost(c.names["buffer"], c.chunk),
    "host_func": lambda c, _: ops.HostFunc(c.stream, c.args.seconds, c.names["releases"], c.args.syncs or "", c.chunk),
    "acquire": lambda c, _: ops.AcquireSlot(c.names["slots"], c.chunk),
    "release": lambda c, _: ops.ReleaseSlot(c.names["slots"], c.chunk),
    "work": lambda c, _: ops.HostWork(c.args.seconds, chunk=c.chunk),
    "sync_stream": lambda c, _: ops.StreamSync(c.stream, c.chunk),
    "sync_event": lambda c, _: ops.EventSync(c.names["event"], c.chunk, c.args.poll),
    "sync_device": lambda c, _: ops.DeviceSync(c.chunk),
    "set_device": lambda c, _: ops.SetDevice(c.args.device, c.chunk),
    "launch_graph": lambda c, _: ops.GraphLaunch(c.args.graph, c.stream, c.chunk),
}
"""The op of a call, by its word; copies on one device have theirs in `_op`."""


def _peer_copy(call: Call) -> ops.MemcpyAsync:
    args = call.args
    pull = args.from_device is not None
    peer = args.from_device if pull else ops.OUTSIDE if args.to_device is None else args.to_device
    return ops.MemcpyAsync("p2p", args.bytes, call.stream, chunk=call.chunk, peer=peer, pull=pull)


def _op(kernels: Mapping[str, ops.Work | KernelProgram], call: Call) -> ops.HostOp:
    """The op of a call."""
    if call.word not in _MAKE:  # the words of asynchronous copies are their ways
        pinned, over = not call.args.pageable, call.args.over or 0
        return ops.MemcpyAsync(call.word, call.args.bytes, call.stream, pinned, chunk=call.chunk, over=over)
    return _MAKE[call.word](call, kernels)
