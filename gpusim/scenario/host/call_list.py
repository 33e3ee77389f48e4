"""The calls of a spelled-out host program as plain data, to be laid beside the program that it describes."""

from __future__ import annotations

from typing import Any

from gpusim.scenario.host.calls import Call, calls_of_graph, calls_of_thread
from gpusim.scenario.host.schema import SpelledHost

__all__ = ["call_list", "captured"]


def call_list(host: SpelledHost) -> list[dict[str, Any]]:
    """All calls of each thread in their order, thread after thread: what the model runs (`build_host`).

    Each has ``thread``, ``chunk`` (None in a prologue or an epilogue), ``call`` (the word of the op list) and the
    fields of that word: bytes as a whole number, ``seconds``, names with the number of the chunk in place of ``#``, and
    ``stream`` also where the file leaves it to the chunk.
    """
    return [
        {"thread": name, "chunk": call.chunk if call.chunk >= 0 else None, **_fields(call)}
        for name in host.threads
        for call in calls_of_thread(host, name)
    ]


def captured(host: SpelledHost) -> dict[str, list[dict[str, Any]]]:
    """The calls that were captured into each graph, by its name, as `call_list` has those of threads."""
    return {name: [_fields(call) for call in calls_of_graph(host, name)] for name in host.graphs}


def _fields(call: Call) -> dict[str, Any]:
    return {
        "call": call.word,
        **call.args.model_dump(exclude_none=True),
        **{field: written for field, written in call.names.items() if written},
        **({"stream": call.stream} if hasattr(call.args, "stream") else {}),
    }
