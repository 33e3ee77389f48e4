"""The calls of a spelled-out host program as plain data, to be laid beside the program that it describes."""

from __future__ import annotations

from typing import Any

from gpusim.scenario.host.calls import calls_of_thread
from gpusim.scenario.host.schema import SpelledHost

__all__ = ["call_list"]


def call_list(host: SpelledHost) -> list[dict[str, Any]]:
    """All calls of each thread in their order, thread after thread: what the model runs (`build_host`).

    Each has ``thread``, ``chunk`` (None in a prologue or an epilogue), ``call`` (the word of the op list) and the
    fields of that word: bytes as a whole number, ``seconds``, names with the number of the chunk in place of ``#``, and
    ``stream`` also where the file leaves it to the chunk. What a graph holds is captured before and no call.
    """
    return [
        {
            "thread": name,
            "chunk": call.chunk if call.chunk >= 0 else None,
            "call": call.word,
            **call.args.model_dump(exclude_none=True),
            **{field: written for field, written in call.names.items() if written},
            **({"stream": call.stream} if hasattr(call.args, "stream") else {}),
        }
        for name in host.threads
        for call in calls_of_thread(host, name)
    ]
