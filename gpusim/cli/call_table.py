"""The calls of a host program as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpusim.cli.output import print_table, seconds
from gpusim.units import format_quantity

__all__ = ["print_calls"]

_HEAD = ("thread", "#", "call", "stream", "event, buffer, slots", "bytes, kernel")
_NAMES = ("event", "buffer", "slots", "releases")
"""What a call makes, waits for, takes or gives back."""


def print_calls(title: str, calls: Sequence[Mapping[str, Any]]) -> None:
    """A row for each of `call_list`'s; ``title`` is followed by how many there are."""
    count = f"{len(calls):,} call{'' if len(calls) == 1 else 's'}"
    rows = [
        (
            call["thread"],
            "" if call["chunk"] is None else call["chunk"],
            call["call"],
            call.get("stream", ""),
            ", ".join(call[field] for field in _NAMES if field in call),
            ", ".join(_rest(call)),
        )
        for call in calls
    ]
    print_table(f"{title}: {count}, and a synchronisation of the device behind them", _HEAD, rows)


def _rest(call: Mapping[str, Any]) -> Iterator[str]:
    """How much a call is about, of what, and what it does not do as usual."""
    if "bytes" in call:
        yield format_quantity(call["bytes"], "bytes")
    if call.get("seconds"):
        yield seconds(call["seconds"])
    for field in ("kernel", "graph", "direction"):
        if field in call:
            yield call[field]
    if call.get("pageable"):
        yield "pageable"
    if call.get("pool", "default") != "default":
        yield f"pool {call['pool']}"
    if call.get("poll"):
        yield "poll"
    if "syncs" in call:
        yield f"waits for {call['syncs']}"
