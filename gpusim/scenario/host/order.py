"""Events that are waited for and never recorded, buffers that are freed and not there: each at its place in the file.

Looks at the order of each thread's own calls. What several threads do to one event or buffer depends on who comes
first, and is left to the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from gpusim.errors import listing, nearest
from gpusim.scenario.host.before import frees_elsewhere
from gpusim.scenario.host.calls import WAITS, Call, calls_of_graph, calls_of_thread
from gpusim.scenario.host.schema import SpelledHost
from gpusim.scenario.kernel.op_schema import REPEAT
from gpusim.scenario.problem import Problem

__all__ = ["ALLOCATED_BY", "FREED_BY", "order_problems"]

TURNS = 2
"""Chunks after which a wait that has found no record yet never will; a loop's first turn may find none."""
FREED_BY = {"malloc": "free", "malloc_async": "free_async", "malloc_host": "free_host"}
ALLOCATED_BY = {free: malloc for malloc, free in FREED_BY.items()}

Threads = dict[str, list[Call]]


def order_problems(host: SpelledHost) -> Iterator[Problem]:
    """Waits and frees of ``host`` that have nothing to wait for or to free, and buffers that are allocated twice."""
    inside: dict[str, str] = {}
    for name in host.graphs:
        captured = list(calls_of_graph(host, name))
        inside |= {call.names["event"]: name for call in _of(captured, "record")}
        # A graph's events are its own, and a capture is refused where a stream waits for one that is not yet recorded.
        yield from _waits_for_nothing({name: captured}, once_is_enough=True)
        yield from _fork_problems(name, captured)
    threads = {name: list(calls_of_thread(host, name)) for name in host.threads}
    short = [name for name, thread in host.threads.items() if thread.chunks < TURNS]
    longer = threads | {name: list(calls_of_thread(host, name, TURNS)) for name in short}
    yield from _waits_for_nothing(longer, inside=inside)
    yield from _buffer_problems(threads)
    yield from _free_problems(host, threads)


def _waits_for_nothing(
    threads: Threads, *, once_is_enough: bool = False, inside: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Problem]:
    """Waits that find no record whenever they are made, or the first time. ``inside``: events that graphs record."""
    written: dict[str, None] = {}
    by_thread: dict[str, set[str]] = defaultdict(set)
    for thread, calls in threads.items():
        for call in _of(calls, "record"):
            written[call.args.event] = None
            by_thread[call.names["event"]].add(thread)
    for thread, calls in threads.items():
        recorded: set[str] = set()
        vain: dict[tuple[str | int, ...], Call] = {}
        met: set[tuple[str | int, ...]] = set()
        for call in _of(calls, "record", *WAITS):
            event = call.names["event"]
            if call.word == "record":
                recorded.add(event)
            elif event in recorded or by_thread[event] - {thread}:
                met.add(call.path)
            # That nobody ever records what it waits for is worse than that one turn comes too early.
            elif call.path not in vain or (by_thread[vain[call.path].names["event"]] and not by_thread[event]):
                vain[call.path] = call
        yield from (
            _vain(call, written, by_thread, inside)
            for path, call in vain.items()
            if once_is_enough or path not in met or not by_thread[call.names["event"]]
        )


def _fork_problems(graph: str, calls: list[Call]) -> Iterator[Problem]:
    """Streams that do not fork from the first one, or never join it again: such a capture is refused."""
    # Waits for an earlier chunk are no calls in a graph; where there are only these, that is the mistake.
    if not calls:
        return
    origin = calls[0].stream
    seen: dict[str, dict[str, int]] = defaultdict(dict, {origin: {origin: 0}})
    recorded: dict[str, dict[str, int]] = {}
    last: dict[str, Call] = {}
    # Streams about which something is told already
    apart: set[str] = set()
    for number, call in enumerate(calls, 1):
        known = seen[call.stream]
        if call.word == "wait_event":
            if call.names["event"] not in recorded:
                apart.add(call.stream)  # it waits for nothing, which is told already
            for stream, until in recorded.get(call.names["event"], {}).items():
                known[stream] = max(known.get(stream, 0), until)
        elif call.word == "record":
            recorded[call.names["event"]] = dict(known)
        elif origin in known:
            known[call.stream] = number
            last[call.stream] = call
        elif call.stream not in apart:
            apart.add(call.stream)
            yield Problem(
                call.path, f"stream {call.stream!r} did not fork from {origin!r}, the first one of graph {graph!r}",
                f"a record in {origin!r} before it, and a wait_event for that in {call.stream!r}",
            )  # fmt: skip
    for stream, call in last.items():
        if stream not in apart and seen[origin].get(stream, 0) < seen[stream][stream]:
            yield Problem(
                call.path, f"stream {stream!r} forks from graph {graph!r}, and {origin!r} does not wait for this",
                f"a record in {stream!r} behind it, and a wait_event for that in {origin!r}",
            )  # fmt: skip


def _vain(call: Call, written: dict[str, None], by_thread: dict[str, set[str]], inside: Mapping[str, str]) -> Problem:
    event, place = call.names["event"], (*call.path, "event")
    if not by_thread[event]:
        text, pattern = f"event {event!r} is waited for but never recorded", call.args.event
        if pattern in written:
            return Problem(place, text, f"as many chunks as those that record {pattern}")
        if event in inside:
            text = f"event {event!r} is recorded inside of graph {inside[event]!r} only, which has events of its own"
            return Problem(place, text, "a record behind its launch_graph")
        stem, numbered, _ = pattern.partition("#")
        if numbered and stem in written:
            return Problem(place, f"{pattern!r} is the event {event!r} of a chunk, and {stem!r} is recorded",
                           f"a record of '{stem}#', which each chunk has its own of")  # fmt: skip
        known = listing(written) or "none; a record comes first"
        return Problem(place, text, known, nearest(event, written))
    stem = call.args.event.partition("#")[0]
    earlier = "" if call.path[0] == "graphs" else f", or that of an earlier chunk, as {stem}#-1"
    text = f"event {event!r} is recorded only later, so this waits for nothing"
    return Problem(place, text, f"a record before it{earlier}")


def _buffer_problems(threads: Threads) -> Iterator[Problem]:
    """Allocations of what is there, frees of what is not there or was allocated by another word; each place once."""
    written: dict[str, None] = {}
    made: dict[str, set[str]] = defaultdict(set)
    users: dict[str, set[str]] = defaultdict(set)
    for thread, calls in threads.items():
        for call in _of(calls, *FREED_BY, *ALLOCATED_BY):
            users[call.names["buffer"]].add(thread)
            if call.word in FREED_BY:
                written[call.args.buffer] = None
                made[call.names["buffer"]].add(call.word)
    for calls in threads.values():
        found: dict[tuple[str | int, ...], Problem] = {}
        held: dict[str, Call] = {}
        freed: dict[str, Call] = {}
        for call in _of(calls, *FREED_BY, *ALLOCATED_BY):
            buffer = call.names["buffer"]
            shared = len(users[buffer]) > 1
            if call.word in FREED_BY:
                problem = _twice(call, held[buffer]) if buffer in held and not shared else None
                held[buffer] = call
            else:
                known = shared or buffer in held
                problem = _not_there(call, made.get(buffer, set()), written, freed.get(buffer), known=known)
                held.pop(buffer, None)
                freed[buffer] = call
            if problem is not None:
                found.setdefault(call.path, problem)
        yield from found.values()


def _free_problems(host: SpelledHost, threads: Threads) -> Iterator[Problem]:
    """Frees in another stream that nothing orders behind the allocation: undefined, and each place once."""
    told: set[tuple[str | int, ...]] = set()
    for free in frees_elsewhere(host, threads):
        call, stream = free.call, free.allocation.stream
        if free.behind or call.path in told:
            continue
        told.add(call.path)
        text = f"in stream {call.stream!r} nothing orders it behind the malloc_async of {call.names['buffer']!r} in"
        yield Problem(
            (*call.path, "stream"), f"{text} {stream!r}",
            f"{stream}, or a record in {stream} behind the last use, and a wait_event for it in {call.stream}",
        )  # fmt: skip


def _twice(call: Call, before: Call) -> Problem:
    buffer, free = call.names["buffer"], FREED_BY[before.word]
    text = f"buffer {buffer!r} is allocated twice"
    if _another_turn(call, before):
        allowed = f"{free} in the same turn, or instead of the repeat a step for each turn, with a name of its own"
        return Problem((*call.path, "buffer"), text + _ONE_CHUNK, allowed)
    each = f", or a name for each chunk, as {buffer}#" if buffer == call.args.buffer else ""
    return Problem((*call.path, "buffer"), text, f"{free} before that{each}")


_ONE_CHUNK = ": all turns of a repeat belong to the same chunk, so that their names are the same"


def _another_turn(call: Call, before: Call | None) -> bool:
    """Whether both are one step of the file, in two turns of the repeat that it is in."""
    return before is not None and REPEAT in call.path and (call.path, call.chunk) == (before.path, before.chunk)


def _not_there(
    call: Call, made: set[str], written: Iterable[str], before: Call | None, *, known: bool
) -> Problem | None:
    """``made``: the words that allocate such a buffer; ``known``: it is there, or may be; ``before``: its last free."""
    buffer, place, allocates = call.names["buffer"], (*call.path, "buffer"), ALLOCATED_BY[call.word]
    if not made:
        text = f"buffer {buffer!r} is freed but never allocated"
        return Problem(place, text, listing(written) or f"none; {allocates} comes first", nearest(buffer, written))
    if allocates not in made:
        by = min(made)
        return Problem(place, f"buffer {buffer!r} is allocated by {by}, so {call.word} cannot free it", FREED_BY[by])
    if not known:
        why = _ONE_CHUNK if _another_turn(call, before) else ""
        return Problem(place, f"buffer {buffer!r} is not there when it is freed{why}", f"behind its {allocates}, once")
    return None


def _of(calls: Iterable[Call], *words: str) -> Iterator[Call]:
    return (call for call in calls if call.word in words)
