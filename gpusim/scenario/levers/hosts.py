"""Levers of host programs that a scenario spells out: slots, buffers, streams, chunks, memory, allocation, launches.

More chunks, or fewer, are the same work only where a chunk is a slice of data: where each one copies at least
`SLICE` bytes from or to the host. Turns of an iteration, calls of a chain or launches of a graph are as many as they
are, and what is smaller than that is no slice but a result, which each turn has once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from gpusim.program.host import DIRECTIONS, TO_OR_FROM_HOST
from gpusim.scenario.host.calls import PARTS, calls_of_graph, calls_of_thread
from gpusim.scenario.host.chunk_names import chunks_back, speaks_of_earlier
from gpusim.scenario.host.early_doubts import in_stream, waits_for_kernel_ahead
from gpusim.scenario.host.schema import MAX_STREAMS, SpelledHost, ThreadSpec, WorkSpec
from gpusim.scenario.kernel.op_lists import as_written
from gpusim.scenario.kinds import Kind
from gpusim.scenario.lever_kinds import LEVERS, Proposal, enough, values_to_try, whole
from gpusim.scenario.levers.kernels import TWICE, rewritten

__all__ = ["of_host"]

SLICE = 4096
"""Bytes from or to the host from which what a chunk copies is a slice of data."""
KEPT = "1 TiB"
"""Release threshold of a pool that gives nothing back."""
_WAITS = ("wait_event", "sync_event")
_FILLS = ("h2d", "d2h", "d2d", "p2p", "memcpy")
_BUSY = ("work", "host_func")
_SIZED = (*DIRECTIONS, "memset", "memcpy", "malloc", "malloc_async", "malloc_host")


class PlacedCall(NamedTuple):
    """An op of a thread: dotted path from the top, list that it is in, word and arguments."""

    path: str
    part: str
    word: str
    args: Any


def of_host(host: SpelledHost) -> list[Iterator[Proposal]]:
    """Proposals by lever for a host program, its spelled-out kernels left as they are."""
    # Of a queue that begins empty nobody may take more than has been put in.
    return [_slots(host, name) for name, count in host.slots.items() if count] + [
        *_buffers(host), _streams(host), _chunks(host), _pinned(host), _allocation(host), _launches(host),
    ]  # fmt: skip


def _slots(host: SpelledHost, name: str) -> Iterator[Proposal]:
    old = host.slots[name]
    for order, new in enumerate(values_to_try(LEVERS[Kind.BUFFERS], old, {"ge": 1})):
        words = enough(LEVERS[Kind.BUFFERS], old, new, f"slots of {name}")
        yield Proposal(f"{name}.slots", f"slots of {name} {old} → {new}", {f"host.slots.{name}": new}, order=order,
                       enough=words)  # fmt: skip


def _buffers(host: SpelledHost) -> list[Iterator[Proposal]]:
    """More buffers, or fewer, where one is filled anew once an event of the chunk that used it before has come."""
    refills: dict[tuple[str, int], list[PlacedCall]] = {}
    for name in _threads_in_chunks(host):
        steps = list(_steps(host, name, "per_chunk"))
        for place, step in enumerate(steps):
            if step.word in _WAITS and speaks_of_earlier(step.args.event) and _fills(step, steps[place + 1 :]):
                refills.setdefault((name, chunks_back(step.args.event)), []).append(step)
    return [_chunks_back(name, count, steps) for (name, count), steps in refills.items()]


def _fills(wait: PlacedCall, later: list[PlacedCall]) -> bool:
    """Whether what waits fills a buffer: a copy, or the host's own work; a kernel may need what an earlier one made."""
    in_stream = wait.word == "wait_event"
    follows = (step for step in later if not in_stream or getattr(step.args, "stream", "") == wait.args.stream)
    return next((step.word in _FILLS or (not in_stream and step.word == "work") for step in follows), False)


def _chunks_back(thread: str, old: int, waits: list[PlacedCall]) -> Iterator[Proposal]:
    stems = list(dict.fromkeys(step.args.event.partition("#")[0] for step in waits))
    for order, new in enumerate(values_to_try(LEVERS[Kind.BUFFERS], old, {"ge": 1})):
        overrides = {
            step.path: rewritten(step.word, step.args, event=f"{step.args.event.partition('#')[0]}#-{new}")
            for step in waits
        }
        named = f"buffers of {thread} {old} → {new}"
        change = f"{named}: wait for {' and '.join(f'{stem}#-{new}' for stem in stems)}"
        yield Proposal(f"{thread}.buffers.{old}", change, overrides, order=order,
                       enough=enough(LEVERS[Kind.BUFFERS], old, new, f"buffers of {thread}"))  # fmt: skip


def _streams(host: SpelledHost) -> Iterator[Proposal]:
    """Other numbers of streams, where chunks are dealt to them in turn.

    Others are there for a reason, and one alone may be, for the order.
    """
    old = len(host.streams)
    counted = list(host.streams) == [f"s{i}" for i in range(old)] and not any(
        stream.model_fields_set for stream in host.streams.values()
    )
    named = any(getattr(step.args, "stream", None) for name in host.threads for step in _steps(host, name))
    if not counted or named or any(thread.deal for thread in host.threads.values()) or (old == 1 and not _sliced(host)):
        return
    for order, new in enumerate(values_to_try(LEVERS[Kind.STREAMS], old, {"ge": 1, "le": MAX_STREAMS})):
        words = enough(LEVERS[Kind.STREAMS], old, new)
        yield Proposal("streams", f"streams {old} → {new}", {"host.streams": new}, order=order, enough=words)


def _chunks(host: SpelledHost) -> Iterator[Proposal]:
    """More and smaller chunks, or fewer and larger ones, in all threads; every kernel takes its share."""
    if not _sliced(host) or not all(isinstance(kernel, WorkSpec) for kernel in host.kernels.values()):
        return
    threads = _threads_in_chunks(host)
    for order, (times, over) in enumerate(TWICE):
        overrides: dict[str, Any] = {}
        for name, kernel in host.kernels.items():
            for amount in ("duration", "flop", "bytes", "writes"):
                if getattr(kernel, amount, None):
                    overrides[f"host.kernels.{name}.{amount}"] = whole(getattr(kernel, amount) * over / times)
        for name, thread in threads.items():
            overrides[f"host.threads.{name}.chunks"] = thread.chunks * times // over
            for step in _steps(host, name, "per_chunk"):
                key = "bytes" if step.word in _SIZED else "seconds" if step.word in _BUSY else ""
                if key and getattr(step.args, key):
                    value = whole(getattr(step.args, key) * over / times)
                    overrides[step.path] = rewritten(step.word, step.args, **{key: value})
        words = [f"chunks of {name} {thread.chunks} → {thread.chunks * times // over}" for name, thread in
                 threads.items()]  # fmt: skip
        if all(thread.chunks * times % over == 0 for thread in threads.values()):
            yield Proposal("chunks", ", ".join(words), overrides, order=order)


def _sliced(host: SpelledHost) -> bool:
    """Whether the chunks of every thread are slices of data."""
    copies = [
        [step.args.bytes for step in _steps(host, name, "per_chunk") if _crosses(step)]
        for name in _threads_in_chunks(host)
    ]
    return bool(copies) and all(sizes and min(sizes) >= SLICE for sizes in copies)


def _crosses(step: PlacedCall) -> bool:
    """Whether it copies from or to the host."""
    return (step.args.direction if step.word == "memcpy" else step.word) in TO_OR_FROM_HOST


def _threads_in_chunks(host: SpelledHost) -> dict[str, ThreadSpec]:
    return {name: thread for name, thread in host.threads.items() if thread.chunks and thread.per_chunk}


def _pinned(host: SpelledHost) -> Iterator[Proposal]:
    overrides = {
        step.path: _page_locked(step)
        for name in host.threads
        for step in _steps(host, name)
        if getattr(step.args, "pageable", False)
    }
    if overrides:
        yield Proposal("memory", "host memory pageable → pinned", overrides)


def _page_locked(step: PlacedCall) -> dict[str, Any]:
    written = rewritten(step.word, step.args, pageable=False)
    written[step.word].pop("over", None)  # what the host's cache holds is a matter of ordinary memory alone
    return written


def _allocation(host: SpelledHost) -> Iterator[Proposal]:
    """The default pool, which gives nothing back meanwhile, where chunks allocate from the device itself."""
    steps = [step for name in host.threads for step in _steps(host, name) if step.word in ("malloc", "free")]
    if not any(step.part == "per_chunk" for step in steps):
        return
    overrides: dict[str, Any] = {step.path: rewritten(f"{step.word}_async", step.args) for step in steps}
    overrides["host.pools.default.release_threshold"] = KEPT
    change = f"cudaMalloc and cudaFree → cudaMallocAsync and cudaFreeAsync (release threshold {KEPT})"
    yield Proposal("allocation", change, overrides)


def _launches(host: SpelledHost) -> Iterator[Proposal]:
    """Launches behind other kernels that may begin during these, or no more."""
    lists = [*(list(calls_of_thread(host, name)) for name in host.threads),
             *(list(calls_of_graph(host, name)) for name in host.graphs)]  # fmt: skip
    behind = {
        call.path: call.args for calls in lists for call, before in in_stream(calls)
        if before == "launch" and waits_for_kernel_ahead(host.kernels[call.args.kernel])
    }  # fmt: skip
    for order, (early, change) in enumerate(((True, "plain → programmatic"), (False, "programmatic → plain"))):
        overrides = {
            ".".join(map(str, ("host", *path[:-1]))): rewritten("launch", args, programmatic=early)
            for path, args in behind.items()
            if args.programmatic != early
        }
        if overrides:
            kernels = ", ".join(dict.fromkeys(args.kernel for args in behind.values() if args.programmatic != early))
            yield Proposal("launches", f"launches of {kernels} {change}", overrides, order=order)


def _steps(host: SpelledHost, name: str, *parts: str) -> Iterator[PlacedCall]:
    """The ops of some of a thread's lists (default: all), with those that repeats hold."""
    for part in parts or PARTS:
        for path, word, args in as_written(getattr(host.threads[name], part)):
            dotted = ".".join(map(str, ("host", "threads", name, part, *path[:-1])))
            yield PlacedCall(dotted, part, word, args)
