"""What a spelled-out host program does that is possible and seldom meant: leaks, leftovers, names in common.

What concerns the order of its streams is in `order_doubts`, programmatic launches in `early_doubts`.

No error, since a program may end without giving anything back, and what two threads mean by one event cannot be seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from gpusim.scenario.host.calls import WAITS, Call, calls_of_graph, calls_of_thread
from gpusim.scenario.host.early_doubts import early_doubts
from gpusim.scenario.host.order import ALLOCATED_BY, FREED_BY
from gpusim.scenario.host.order_doubts import order_doubts
from gpusim.scenario.host.schema import SpelledHost

__all__ = ["host_doubts"]

_SHOWN = 3
"""Names of a kind that are told; of more the last one besides."""
_OF_CUDA = {"legacy": "the NULL stream, for which blocking ones wait", "per_thread": "its own default stream"}
"""Kinds of streams that CUDA has without being asked, and that other streams have to do with."""


def host_doubts(host: SpelledHost) -> Iterator[str]:
    """Sentences that name what it is about, and what to do."""
    threads = {name: list(calls_of_thread(host, name)) for name in host.threads}
    graphs = {name: list(calls_of_graph(host, name)) for name in host.graphs}
    yield from _leaks(threads)
    yield from _left_over(host, threads, graphs)
    yield from _dealt_to_default(host, threads)
    yield from _events_in_common(threads)
    yield from order_doubts(host, threads)
    yield from early_doubts(host, [*threads.values(), *graphs.values()])
    yield from _unused(host, [call for calls in (*threads.values(), *graphs.values()) for call in calls])


def _leaks(threads: dict[str, list[Call]]) -> Iterator[str]:
    """Buffers of several chunks that nobody frees; one that is left may be what the last chunk needs no more."""
    freed = {call.names["buffer"] for calls in threads.values() for call in calls if call.word in ALLOCATED_BY}
    for name, calls in threads.items():
        kept: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for call in calls:
            if call.word in FREED_BY and call.chunk >= 0 and call.names["buffer"] not in freed:
                kept[call.word, call.args.buffer][call.names["buffer"]] = None
        for (word, written), buffers in kept.items():
            if len(buffers) > 1:
                yield (
                    f"thread {name!r} allocates {_listed(buffers)} and nobody ever frees them; {FREED_BY[word]} "
                    f"{written} in the chunk or {written}-n in a later one, and the last ones by their full names in "
                    "the epilogue"
                )


def _left_over(host: SpelledHost, threads: dict[str, list[Call]], graphs: dict[str, list[Call]]) -> Iterator[str]:
    """Slots that are given back more often than they are taken, whoever comes first."""
    taken, given = Counter[str](), Counter[str]()
    by_graph = {name: Counter(slots for call in calls if (slots := _gives(call))) for name, calls in graphs.items()}
    for call in (call for calls in threads.values() for call in calls):
        if call.word == "launch_graph":
            given.update(by_graph[call.args.graph])
        elif call.word == "acquire":
            taken[call.names["slots"]] += 1
        elif _gives(call):
            given[_gives(call)] += 1
    told: set[str] = set()
    for slots, times in given.items():
        name = next(known for known in host.slots if _stands_for(known, slots))
        if times <= taken[slots] or name in told:
            continue
        told.add(name)
        there, more = host.slots[name], times - taken[slots]
        end = f"{there + more} are free at the end, of {there}" if there else f"{more} are left over"
        yield f"slots {slots!r} are taken {_times(taken[slots])} and given back {_times(times)}: {end}"


def _gives(call: Call) -> str:
    """The slots of which a call, or the function that it enqueues, gives one back."""
    return call.names["slots"] if call.word == "release" else call.names["releases"]


def _dealt_to_default(host: SpelledHost, threads: dict[str, list[Call]]) -> Iterator[str]:
    """Chunks that go round all streams, and so to one of CUDA's own that was declared beside others."""
    own = {name: spec.kind for name, spec in host.streams.items() if spec.kind in _OF_CUDA}
    if len(own) == len(host.streams):
        # Beside a thread's own default stream it is the NULL stream that was declared for something else.
        own = {name: kind for name, kind in own.items() if kind == "legacy"}
    if not own or len(own) == len(host.streams):
        return
    others = [name for name in host.streams if name not in own]
    for name, calls in threads.items():
        if host.threads[name].deal is not None:
            continue
        dealt = {call.stream for call in calls if call.chunk >= 0 and getattr(call.args, "stream", "") is None}
        for stream in (name for name in own if name in dealt):
            yield (
                f"chunks of thread {name!r} go round all {len(host.streams)} streams, and so to {stream!r}, "
                f"{_OF_CUDA[own[stream]]}; deal: [{', '.join(others)}] leaves it out"
            )


def _events_in_common(threads: dict[str, list[Call]]) -> Iterator[str]:
    """Events that several threads record and somebody waits for: which record that is depends on who comes first."""
    awaited = {call.names["event"] for calls in threads.values() for call in calls if call.word in WAITS}
    recorded: dict[str, dict[str, None]] = defaultdict(dict)
    for name, calls in threads.items():
        for call in calls:
            if call.word == "record" and call.names["event"] in awaited:
                recorded[call.names["event"]][name] = None
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for event, names in recorded.items():
        if len(names) > 1:
            together[tuple(names)].append(event)
    for names, events in together.items():
        those = " and ".join(map(repr, names))
        yield (
            f"threads {those} record the same {_many('event', events)} {_listed(events)}, and a wait is for whichever "
            "record came last; give each thread names of its own"
        )


def _unused(host: SpelledHost, calls: list[Call]) -> Iterator[str]:
    """What is declared and stands in no call."""
    used: dict[str, set[str]] = defaultdict(set)
    for call in calls:
        used["slots"].update((call.names["slots"], call.names["releases"]))
    # What else a call names is the same in each chunk, but for the stream.
    for call in {(call.path, call.stream): call for call in calls}.values():
        args = call.args
        for section, field in (("kernels", "kernel"), ("pools", "pool"), ("graphs", "graph"), ("streams", "syncs")):
            used[section].add(getattr(args, field, None) or "")
        if hasattr(args, "stream"):
            used["streams"].add(call.stream)
        elif call.word == "memcpy":
            used["streams"].update(name for name, spec in host.streams.items() if spec.kind == "legacy")
    for section in ("streams", "kernels", "pools", "slots", "graphs"):
        names = getattr(host, section) if section in host.model_fields_set else {}
        left = [name for name in names if not _is_used(name, used[section])]
        if left:
            kind = section if section == "slots" else _many(section[:-1], left)
            yield f"{kind} {_listed(left)}: declared, and no call uses {'it' if len(left) == 1 else 'them'}"


def _is_used(name: str, used: set[str]) -> bool:
    return name in used or ("#" in name and any(_stands_for(name, each) for each in used))


def _stands_for(name: str, numbered: str) -> bool:
    """Whether ``numbered`` is ``name``, with the number of a chunk in place of ``#``."""
    stem = name.removesuffix("#")
    return numbered == name or (stem != name and numbered.startswith(stem) and numbered[len(stem) :].isdigit())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _many(noun: str, things: Iterable[str]) -> str:
    return noun if len(list(things)) == 1 else f"{noun}s"


def _listed(names: Iterable[str]) -> str:
    """A few names: "b1, b2, b3", "b0, b1, b2, … b15"."""
    known = list(names)
    shown = known if len(known) <= _SHOWN + 1 else [*known[:_SHOWN], f"… {known[-1]}"]
    return ", ".join(shown)
