"""What of a thread's calls is done before what, as far as streams, events and the host's waits say so.

Frees in another stream than their allocation's are looked at by this: of the rest CUDA takes care in the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gpusim.program.host import DIRECTIONS
from gpusim.scenario.host.calls import Call
from gpusim.scenario.host.schema import DEFAULT_POOL, SpelledHost

__all__ = ["BLOCKING", "WORK", "Free", "frees_elsewhere"]

WORK = frozenset({*DIRECTIONS, "memset", "launch", "launch_graph", "host_func"})
"""Words of what may use a buffer."""
_OF_ALL = frozenset({"sync_device", "malloc", "free", "malloc_host", "free_host", "memcpy", "acquire"})
"""Words behind which the host may know that all before is done: some do not wait, and who gave a slot back has."""
BLOCKING = ("blocking", "per_thread")
"""Kinds of streams that wait for the legacy one, as it does for them."""

Known = dict[str, int]
"""Of each stream the number of the last call in it that is done before."""


class Free(NamedTuple):
    """A ``free_async`` in another stream than its allocation's.

    ``behind``: whether it comes behind the allocation. ``user``: work in the allocation's stream in between, behind
    which it does not come, where there is no other that may have used the buffer; else None.
    """

    call: Call
    allocation: Call
    behind: bool
    user: Call | None


def frees_elsewhere(host: SpelledHost, threads: dict[str, list[Call]]) -> Iterator[Free]:
    """Frees of buffers and streams that one thread alone uses: what another one does may come in between."""
    pools = DEFAULT_POOL | host.pools
    users: dict[tuple[str, str], set[str]] = defaultdict(set)
    for thread, calls in threads.items():
        for call in calls:
            users["stream", call.stream].add(thread)
            users["buffer", call.names["buffer"]].add(thread)
    for thread, calls in threads.items():
        allocated: dict[str, int] = {}
        # Number of a free, and that of its allocation
        pairs: dict[int, int] = {}
        for number, call in enumerate(calls):
            buffer = call.names["buffer"]
            pool = pools.get(call.args.pool) if call.word == "malloc_async" else None
            if pool is not None and pool.kind == "driver":
                allocated[buffer] = number
            elif call.word == "free_async" and (first := allocated.pop(buffer, -1)) >= 0:
                of_one = users["stream", call.stream] == users["buffer", buffer] == {thread}
                if of_one and calls[first].stream != call.stream:
                    pairs[number] = first
        if pairs:
            others = (call for name in threads.keys() - {thread} for call in threads[name])
            foreign = {call.names["event"] for call in others if call.word == "record"}
            yield from _looked_at(host, calls, pairs, foreign)


def _looked_at(host: SpelledHost, calls: list[Call], pairs: dict[int, int], foreign: set[str]) -> Iterator[Free]:
    for number, known in enumerate(_known(host, calls, foreign)):
        if (first := pairs.get(number)) is None:
            continue
        call, allocation = calls[number], calls[first]
        between = [(at, calls[at]) for at in range(first + 1, number) if calls[at].word in WORK]
        user = next((work for _, work in between if work.stream == allocation.stream), None)
        if any(work.stream == call.stream or known.get(work.stream, -1) >= at for at, work in between):
            user = None
        yield Free(call, allocation, known.get(allocation.stream, -1) >= first, user)


def _known(host: SpelledHost, calls: list[Call], foreign: set[str]) -> Iterator[Known]:
    """Behind what each call comes; ``foreign``: events that other threads record, and so behind anything."""
    kinds = {name: spec.kind for name, spec in host.streams.items()}
    blocking = [name for name, kind in kinds.items() if kind in BLOCKING]
    legacy = [name for name, kind in kinds.items() if kind == "legacy"]
    last: Known = {}
    by_host: Known = {}
    by_stream: dict[str, Known] = defaultdict(dict)
    recorded: dict[str, Known] = {}
    for number, call in enumerate(calls):
        event, known = call.names["event"], by_stream[call.stream]
        # What the legacy stream waits for, and what waits for it.
        kind = kinds.get(call.stream)
        for other in blocking if kind == "legacy" else legacy if kind in BLOCKING else ():
            _join(known, by_stream[other], {other: last[other]} if other in last else {})
        _join(known, by_host)
        if call.word in _OF_ALL:
            by_host = dict(last)
        elif call.word == "sync_stream":
            _join(by_host, known, {call.stream: last.get(call.stream, -1)})
        elif call.word in ("sync_event", "wait_event"):
            # A wait for a record of another thread may order anything.
            found = dict(last) if event in foreign else recorded.get(event, {})
            _join(by_host if call.word == "sync_event" else known, found)
        elif call.word == "record":
            recorded[event] = {**known, call.stream: last.get(call.stream, -1)}
        yield known
        if hasattr(call.args, "stream"):
            last[call.stream] = number


def _join(known: Known, *others: Known) -> None:
    for other in others:
        for stream, number in other.items():
            known[stream] = max(known.get(stream, -1), number)
