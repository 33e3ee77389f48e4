"""What pydantic cannot see in a spelled-out host program: names of nothing, calls that are not possible there.

In which order events and buffers are used is looked at by `order`; deadlocks are found by running the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpusim.errors import listing, nearest
from gpusim.program.host import BETWEEN_DEVICE_MEMORY, DIRECTIONS
from gpusim.scenario.host.calls import PARTS
from gpusim.scenario.host.chunk_names import speaks_of_earlier
from gpusim.scenario.host.devices import device_problems
from gpusim.scenario.host.order import order_problems
from gpusim.scenario.host.schema import DEFAULT_POOL, SpelledHost, ThreadSpec
from gpusim.scenario.kernel.op_lists import as_written, length
from gpusim.scenario.kernel.op_schema import REPEAT
from gpusim.scenario.problem import Problem

__all__ = ["host_problems"]

MAX_OPS = 100_000
_CAPTURED = (*DIRECTIONS, "memset", "launch", "record", "wait_event", "host_func", REPEAT)
_DEFAULT_STREAM = frozenset({"0", "default", "legacy", "null", "NULL"})
"""What people call the stream that CUDA has without being asked for one."""
_OF_EARLIER = ("wait_event", "sync_event", "free", "free_async", "free_host")
"""Words that wait for or give back what an earlier chunk made; the first chunks, which have none, leave them out."""


def host_problems(host: SpelledHost) -> Iterator[Problem]:
    """Everything wrong with the names and the order of ``host``, by list; deadlocks are found by running it."""
    for name, graph in host.graphs.items():
        for path, word, args in as_written(graph.ops):
            place = ("graphs", name, "ops", *path)
            if word not in _CAPTURED:
                yield Problem(place, f"{word} in a graph is not modelled", listing(_CAPTURED))
            yield from _names(host, word, args, place, in_chunks=False)
    yield from _unused(host)
    yield from _polls(host)
    count = 0
    for name, thread in host.threads.items():
        for index, stream in enumerate(thread.deal or ()):
            if stream not in host.streams:
                yield _unknown("stream", stream, host.streams, ("threads", name, "deal", index))
        yield from _half_named(host, name, thread)
        count += length(thread.prologue) + thread.chunks * length(thread.per_chunk) + length(thread.epilogue)
        if count > MAX_OPS:
            yield Problem(("threads", name, "chunks"), f"{count:,} calls in all", f"at most {MAX_OPS:,}")
        for part in PARTS:
            for path, word, args in as_written(getattr(thread, part)):
                yield from _names(host, word, args, ("threads", name, part, *path), in_chunks=part == "per_chunk")
    if count <= MAX_OPS:
        yield from order_problems(host)
        yield from device_problems(host)


def _unused(host: SpelledHost) -> Iterator[Problem]:
    """Pools that nothing takes memory from, while what is allocated comes from the undeclared one."""
    named = {
        args.pool
        for thread in host.threads.values()
        for part in PARTS
        for _, word, args in as_written(getattr(thread, part))
        if word == "malloc_async"
    }
    for name in host.pools:
        if name not in named and named & DEFAULT_POOL.keys() - host.pools.keys():
            text = "is a pool that nothing takes memory from; all comes from the default one"
            yield Problem(("pools", name), text, f"malloc_async with pool: {name}")


def _polls(host: SpelledHost) -> Iterator[Problem]:
    """Threads that poll in Python while others need the interpreter: who gets it when is not modelled."""
    lists = {("threads", name, part): getattr(thread, part) for name, thread in host.threads.items() for part in PARTS}
    calls = [((*place, *path), word, args) for place in lists for path, word, args in as_written(lists[place])]
    captured = (word for graph in host.graphs.values() for _, word, _ in as_written(graph.ops))
    alone = len(host.threads) == 1 and "host_func" not in {*captured, *(word for _, word, _ in calls)}
    if host.api == "cuda" or alone:
        return
    for path, _, args in calls:
        if getattr(args, "poll", False):
            text = "a loop in Python keeps other threads and host functions out, for how long nobody has measured"
            allowed = "poll in a program of one thread without host functions, or with api: cuda"
            yield Problem((*path, "poll"), text, allowed)


def _half_named(host: SpelledHost, name: str, thread: ThreadSpec) -> Iterator[Problem]:
    """Calls that go round all streams beside others that name one: of the former the name has been forgotten."""
    if thread.deal is not None or len(host.streams) == 1 or thread.chunks == 1:
        return
    calls = [(path, word, args) for path, word, args in as_written(thread.per_chunk) if hasattr(args, "stream")]
    dealt = [(path, word) for path, word, args in calls if args.stream is None]
    if dealt and len(dealt) < len(calls):
        path, word = dealt[0]
        count = len(host.streams)
        text = f"{word} names no stream, so each chunk's goes to another of all {count}, while other calls name theirs"
        place = ("threads", name, "per_chunk", *path)
        yield Problem(place, text, "a stream for it, or deal: [the streams to go round]")


def _names(host: SpelledHost, word: str, args: Any, path: tuple, *, in_chunks: bool) -> Iterator[Problem]:
    known: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
        ("stream", "stream", host.streams), ("syncs", "stream", host.streams), ("kernel", "kernel", host.kernels),
        ("pool", "pool", DEFAULT_POOL | host.pools), ("slots", "slots", host.slots), ("releases", "slots", host.slots),
        ("graph", "graph", host.graphs),
    )  # fmt: skip
    for field, kind, names in known:
        name = getattr(args, field, None)
        if name is not None and name not in names:
            yield _unknown(kind, name, names, (*path, field))
    for field in ("event", "buffer"):
        if speaks_of_earlier(getattr(args, field, "")):
            if word not in _OF_EARLIER:
                yield Problem(
                    (*path, field), f"{word} cannot be of an earlier chunk", f"#-n with {listing(_OF_EARLIER)}"
                )
            elif not in_chunks:
                yield Problem((*path, field), "has no chunks before it", "#-n in per_chunk")
    if getattr(args, "pageable", False) and (word in BETWEEN_DEVICE_MEMORY or getattr(args, "direction", "") == "d2d"):
        yield Problem((*path, "pageable"), f"{word} within the device has no host side", "pageable with h2d and d2h")
    if getattr(args, "over", None) and not getattr(args, "pageable", False):
        yield Problem((*path, "over"), "is of ordinary memory, and this is page-locked", "over beside pageable: true")


def _unknown(kind: str, name: str, known: Mapping[str, Any], path: tuple) -> Problem:
    there_is, section = ("there are no", kind) if kind == "slots" else ("there is no", f"{kind}s")
    allowed = listing(known) or f"none; declare it under {section}"
    if kind == "slots" and name.partition("#")[0] in known:
        allowed = f"{name.partition('#')[0]}: slots have no numbers, whichever is free is taken"
    if kind == "stream" and name in _DEFAULT_STREAM:
        allowed += "; CUDA's default stream is one that is declared as default: {kind: legacy}"
    return Problem(path, f"{there_is} {kind} {name!r}", allowed, nearest(name, known))
