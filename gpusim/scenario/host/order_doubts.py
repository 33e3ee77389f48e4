"""What a host program leaves to luck in the order of its streams: records of nothing, vain waits, early frees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from gpusim.scenario.host.before import BLOCKING, WORK, frees_elsewhere
from gpusim.scenario.host.calls import WAITS, Call
from gpusim.scenario.host.schema import SpelledHost

__all__ = ["order_doubts"]

_IN_STREAMS = WORK | {"wait_event", "malloc_async", "free_async"}
"""Words of what a record in the same stream comes behind."""
_WITH_LEGACY = ("legacy", *BLOCKING)
"""Kinds of streams of which one may wait for others, if there is a legacy one."""

Threads = dict[str, list[Call]]


def order_doubts(host: SpelledHost, threads: Threads) -> Iterator[str]:
    """Sentences that name what it is about, and what to do."""
    yield from _records_of_nothing(host, threads)
    yield from _waits_ahead_of_records(threads)
    yield from _waits_for_each_other(threads)
    yield from _freed_in_use(host, threads)
    yield from _functions_that_wait(threads)


def _records_of_nothing(host: SpelledHost, threads: Threads) -> Iterator[str]:
    """Events that are recorded in a stream in front of all its work, and waited for."""
    every = [call for calls in threads.values() for call in calls]
    awaited = {call.names["event"] for call in every if call.word in WAITS}
    legacy = any(spec.kind == "legacy" for spec in host.streams.values()) or any(
        call.word == "memcpy" for call in every
    )
    ordered = {name for name, spec in host.streams.items() if legacy and spec.kind in _WITH_LEGACY}
    for thread, calls in threads.items():
        others = (call for name in threads.keys() - {thread} for call in threads[name])
        busy = {call.stream for call in others if call.word in _IN_STREAMS}
        vain: dict[tuple[str | int, ...], Call] = {}
        met: set[tuple[str | int, ...]] = set()
        for call in calls:
            if call.word in _IN_STREAMS:
                busy.add(call.stream)
            elif call.word == "record" and call.stream in busy | ordered:
                met.add(call.path)
            elif call.word == "record" and call.names["event"] in awaited:
                vain.setdefault(call.path, call)
        for path, call in vain.items():
            if path not in met:
                yield (
                    f"event {call.args.event!r} is recorded in stream {call.stream!r} before there is any work in it: "
                    "who waits for it waits for nothing; record it in the stream with the work"
                )


def _waits_ahead_of_records(threads: Threads) -> Iterator[str]:
    """Waits of a thread that records the event only later, and has no further turn in which they would find it."""
    for thread, calls in threads.items():
        own = {call.names["event"] for call in calls if call.word == "record"}
        elsewhere = {
            call.names["event"] for name in threads.keys() - {thread} for call in threads[name] if call.word == "record"
        }
        recorded: set[str] = set()
        vain: dict[tuple[str | int, ...], Call] = {}
        met: set[tuple[str | int, ...]] = set()
        for call in calls:
            if call.word == "record":
                recorded.add(call.names["event"])
            elif call.word in WAITS and call.names["event"] in own - recorded - elsewhere:
                vain.setdefault(call.path, call)
            elif call.word in WAITS:
                met.add(call.path)
        for path, call in vain.items():
            if path not in met:
                yield (
                    f"thread {thread!r} waits for event {call.args.event!r} before it records it, and there is no "
                    "further chunk: this waits for nothing; record it first"
                )


def _waits_for_each_other(threads: Threads) -> Iterator[str]:
    """Two threads that wait for the other's event before they record their own: one of the waits finds no record.

    In the first turn of a loop that may be meant.
    """
    records, waits = ({name: _once(calls, words) for name, calls in threads.items()} for words in (("record",), WAITS))
    for one, two in combinations(threads, 2):
        crossed = (
            (event, back)
            for event in waits[one].keys() & records[two].keys()
            for back in waits[two].keys() & records[one].keys()
            if waits[one][event] < records[one][back] and waits[two][back] < records[two][event]
        )
        if found := min(crossed, default=None):
            event, back = found
            yield (
                f"thread {one!r} waits for event {event!r} before it records {back!r}, and thread {two!r} for {back!r} "
                f"before it records {event!r}: one of them finds no record and goes on"
            )


def _once(calls: list[Call], words: tuple[str, ...]) -> dict[str, int]:
    """Events that one such call is about, and its number."""
    found: dict[str, list[int]] = {}
    for number, call in enumerate(calls):
        if call.word in words:
            found.setdefault(call.names["event"], []).append(number)
    return {event: numbers[0] for event, numbers in found.items() if len(numbers) == 1}


def _freed_in_use(host: SpelledHost, threads: Threads) -> Iterator[str]:
    """Frees in another stream that come behind the allocation and not behind the work that follows it."""
    told: set[tuple[str | int, ...]] = set()
    for free in frees_elsewhere(host, threads):
        call, user = free.call, free.user
        if free.behind and user is not None and call.path not in told:
            told.add(call.path)
            yield (
                f"free_async of {call.names['buffer']!r} in stream {call.stream!r} comes behind its allocation in "
                f"{user.stream!r}, but not behind the {user.word} there; wait for an event that is recorded behind its "
                "last use"
            )


def _functions_that_wait(threads: Threads) -> Iterator[str]:
    """Host functions that wait for a stream."""
    told: set[tuple[str, str]] = set()
    for call in (call for calls in threads.values() for call in calls if call.word == "host_func"):
        streams = call.stream, call.args.syncs
        if call.args.syncs and streams not in told:
            told.add(streams)
            yield (
                f"host_func in stream {call.stream!r} waits for stream {call.args.syncs!r}, and CUDA forbids its calls "
                f"in a host function; a wait_event in {call.stream!r}, or a thread that waits, does the same"
            )
