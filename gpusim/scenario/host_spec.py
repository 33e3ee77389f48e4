"""A spelled-out host program of a scenario file as a `HostProgram`, and what is wrong with its names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpusim.errors import listing, nearest
from gpusim.program import KernelProgram
from gpusim.program import host as ops
from gpusim.scenario.host_schema import SpelledHost, WorkSpec
from gpusim.scenario.kernel_check import Problem
from gpusim.scenario.op_words import chosen

__all__ = ["build_host", "host_problems"]

MAX_OPS = 100_000
_PARTS = ("prologue", "per_chunk", "epilogue")
_CAPTURED = ("h2d", "d2h", "d2d", "p2p", "launch", "record", "wait_event", "host_func")
_COPIES = ("h2d", "d2h", "d2d", "p2p")

KernelOf = Callable[[Any, tuple[str, ...]], KernelProgram]
"""Makes the program of a technique or of a spelled-out kernel."""


def host_problems(host: SpelledHost) -> Iterator[Problem]:
    """Everything wrong with the names of ``host``, in file order; deadlocks are found by running it."""
    for name, graph in host.graphs.items():
        for index, step in enumerate(graph.ops):
            word, _ = chosen(step)
            path = ("graphs", name, "ops", index, word)
            if word not in _CAPTURED:
                yield Problem(path, f"{word} cannot be captured into a graph", listing(_CAPTURED))
            yield from _names(host, step, path)
    count = 0
    for name, thread in host.threads.items():
        for index, stream in enumerate(thread.deal or ()):
            if stream not in host.streams:
                yield _unknown("stream", stream, host.streams, ("threads", name, "deal", index))
        count += len(thread.prologue) + thread.chunks * len(thread.per_chunk) + len(thread.epilogue)
        if count > MAX_OPS:
            yield Problem(("threads", name, "chunks"), f"{count:,} calls in all", f"at most {MAX_OPS:,}")
        for part in _PARTS:
            for index, step in enumerate(getattr(thread, part)):
                word, _ = chosen(step)
                yield from _names(host, step, ("threads", name, part, index, word))


def _names(host: SpelledHost, step: Any, path: tuple) -> Iterator[Problem]:
    word, spec = chosen(step)
    known: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
        ("stream", "stream", host.streams), ("syncs", "stream", host.streams), ("kernel", "kernel", host.kernels),
        ("pool", "pool", host.pools), ("slots", "slots", host.slots), ("releases", "slots", host.slots),
        ("graph", "graph", host.graphs),
    )  # fmt: skip
    for field, kind, names in known:
        name = getattr(spec, field, None)
        if name is not None and name not in names:
            yield _unknown(kind, name, names, (*path, field))
    if word in ("d2d", "p2p") and spec.pageable:
        yield Problem((*path, "pageable"), f"{word} has no host side", "pageable with h2d and d2h")


def _unknown(kind: str, name: str, known: Mapping[str, Any], path: tuple) -> Problem:
    section = kind if kind == "slots" else f"{kind}s"
    return Problem(
        path,
        f"there is no {kind} {name!r}",
        listing(known) or f"none; declare it under {section}",
        nearest(name, known),
    )


def build_host(host: SpelledHost, kernel_of: KernelOf) -> ops.HostProgram:
    """The program of ``host``, whose names have been checked (`host_problems`)."""
    kernels = {
        name: _work(name, spec) if isinstance(spec, WorkSpec) else kernel_of(spec, ("kernels", name))
        for name, spec in host.kernels.items()
    }
    build = _Builder(host, kernels)
    chunks = max(thread.chunks for thread in host.threads.values())
    return ops.HostProgram(
        "host",
        tuple(ops.HostThread(name, tuple(build.thread(name))) for name in host.threads),
        streams=tuple(ops.Stream(name, spec.kind, spec.priority) for name, spec in host.streams.items()),
        pools=tuple(ops.Pool(n, p.kind, p.release_threshold, p.limit) for n, p in host.pools.items()),
        slots=tuple(ops.Slots(n, count) for name, count in host.slots.items() for n in _numbered(name, chunks)),
        graphs=tuple(ops.Graph(name, tuple(build.steps(graph.ops, -1, None))) for name, graph in host.graphs.items()),
    )


def _numbered(name: str, chunks: int) -> list[str]:
    return [f"{name[:-1]}{chunk}" for chunk in range(chunks)] if name.endswith("#") else [name]


def _work(name: str, spec: WorkSpec) -> ops.Work:
    cost = ops.FixedCost(spec.duration) if spec.duration is not None else ops.RooflineCost(spec.flop, spec.bytes)
    return ops.Work(cost, spec.blocks, spec.threads, spec.registers, spec.shared_bytes, name)


@dataclass(frozen=True, slots=True)
class _Builder:
    host: SpelledHost
    kernels: Mapping[str, ops.Work | KernelProgram]

    def thread(self, name: str) -> Iterator[ops.HostOp]:
        """The calls of one thread, in order."""
        thread = self.host.threads[name]
        streams = thread.deal or list(self.host.streams)
        yield from self.steps(thread.prologue, -1, streams[0])
        for chunk in range(thread.chunks):
            yield from self.steps(thread.per_chunk, chunk, streams[chunk % len(streams)])
        yield from self.steps(thread.epilogue, -1, streams[0])

    def steps(self, steps: list[Any], chunk: int, stream: str | None) -> Iterator[Any]:
        """Ops of a list; those without a stream are in ``stream``, or in the first of all."""
        for step in steps:
            word, spec = chosen(step)
            yield self._op(word, spec, chunk, getattr(spec, "stream", None) or stream or next(iter(self.host.streams)))

    def _op(self, word: str, spec: Any, chunk: int, stream: str) -> Any:
        def named(field: str) -> str:
            name = getattr(spec, field) or ""
            return f"{name[:-1]}{max(chunk, 0)}" if name.endswith("#") else name

        if word in _COPIES:
            return ops.MemcpyAsync(word, spec.bytes, stream, not spec.pageable, chunk=chunk)
        make: dict[str, Callable[[], Any]] = {
            "memcpy": lambda: ops.Memcpy(spec.direction, spec.bytes, not spec.pageable, chunk=chunk),
            "launch": lambda: ops.Launch(self.kernels[spec.kernel], stream, chunk=chunk),
            "record": lambda: ops.EventRecord(named("event"), stream, chunk),
            "wait_event": lambda: ops.StreamWaitEvent(named("event"), stream, chunk),
            "malloc": lambda: ops.Malloc(named("buffer"), spec.bytes, chunk),
            "free": lambda: ops.Free(named("buffer"), chunk),
            "malloc_async": lambda: ops.MallocAsync(named("buffer"), spec.bytes, stream, spec.pool, chunk),
            "free_async": lambda: ops.FreeAsync(named("buffer"), stream, chunk),
            "malloc_host": lambda: ops.MallocHost(named("buffer"), spec.bytes, chunk),
            "free_host": lambda: ops.FreeHost(named("buffer"), chunk),
            "host_func": lambda: ops.HostFunc(stream, spec.seconds, named("releases"), spec.syncs or "", chunk),
            "acquire": lambda: ops.AcquireSlot(named("slots"), chunk),
            "work": lambda: ops.HostWork(spec.seconds, chunk=chunk),
            "sync_stream": lambda: ops.StreamSync(stream, chunk),
            "sync_event": lambda: ops.EventSync(named("event"), chunk),
            "sync_device": lambda: ops.DeviceSync(chunk),
            "launch_graph": lambda: ops.GraphLaunch(spec.graph, stream, chunk),
        }
        return make[word]()
