"""The calls of a spelled-out host program in the order in which each thread makes them, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import Any, NamedTuple

from gpusim.scenario.host.chunk_names import of_chunk
from gpusim.scenario.host.schema import SpelledHost
from gpusim.scenario.kernel.op_lists import as_run

__all__ = ["PARTS", "WAITS", "Call", "calls_of_graph", "calls_of_thread"]

PARTS = ("prologue", "per_chunk", "epilogue")
"""Op lists of a thread, in the order in which they run."""
WAITS = ("wait_event", "sync_event")
"""Words of what waits for an event."""
_NUMBERED = ("event", "buffer", "slots", "releases")
"""Fields whose name may go with a chunk."""


class Call(NamedTuple):
    """An op as it is called: its place below ``host``, its word and arguments, its chunk (-1: none) and stream.

    ``names``: event, buffer and slots of it, with the number of the chunk in place of ``#``; "" where it has none.
    """

    path: tuple[str | int, ...]
    word: str
    args: Any
    chunk: int
    stream: str
    names: dict[str, str]


def calls_of_thread(host: SpelledHost, name: str, least: int = 0) -> Iterator[Call]:
    """The calls of a thread in their order, of at least ``least`` chunks if it has any.

    What speaks of a chunk before the first one is left out.
    """
    thread = host.threads[name]
    streams = thread.deal or list(host.streams)
    chunks = range(max(thread.chunks, least) if thread.chunks else 0)
    turns = {"prologue": [-1], "per_chunk": chunks, "epilogue": [-1]}
    for part in PARTS:
        written = _written(getattr(thread, part), ("threads", name, part))
        together = thread.breadth_first if part == "per_chunk" else 1
        groups = [[*each] for _, each in groupby(written, key=_number)] if together > 1 else [written]
        for first in range(0, len(turns[part]), together):
            for group, chunk in product(groups, turns[part][first : first + together]):
                yield from _in_chunk(group, chunk, streams[max(chunk, 0) % len(streams)])


def calls_of_graph(host: SpelledHost, name: str) -> Iterator[Call]:
    """The calls that were captured into a graph, in their order."""
    written = _written(host.graphs[name].ops, ("graphs", name, "ops"))
    yield from _in_chunk(written, -1, next(iter(host.streams)))


def _written(steps: Sequence[Any], place: tuple[str | int, ...]) -> list[Call]:
    """The calls of one turn of a list with names as they are written; ``stream`` is "" where it is the chunk's."""
    return [
        Call(
            (*place, *path), word, args, -1, getattr(args, "stream", None) or "",
            {field: getattr(args, field, None) or "" for field in _NUMBERED},
        )
        for path, word, args in as_run(steps)
    ]  # fmt: skip


def _number(call: Call) -> str | int:
    """Which op of its list it is of; all turns of a repeat are of one."""
    return call.path[3]


def _in_chunk(written: list[Call], chunk: int, stream: str) -> Iterator[Call]:
    for call in written:
        names = {field: of_chunk(name, chunk) for field, name in call.names.items()}
        known = {field: name for field, name in names.items() if name is not None}
        if len(known) == len(names):
            yield Call(call.path, call.word, call.args, chunk, call.stream or stream, known)
