"""The calls of a host program as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpusim.cli.output import print_table, seconds
from gpusim.units import format_quantity

__all__ = ["print_calls", "print_captured"]

_HEAD = ("thread", "#", "call", "stream", "event, buffer, slots", "bytes, kernel")
_NAMES = ("event", "buffer", "slots", "releases")
"""What a call makes, waits for, takes or gives back."""
_DEVICES = {"device": "device", "to_device": "to device", "from_device": "from device"}
"""What a call says of devices, and how that is told."""


def print_calls(title: str, calls: Sequence[Mapping[str, Any]]) -> None:
    """A row for each of `call_list`'s; ``title`` is followed by how many there are."""
    rows = [(call["thread"], "" if call["chunk"] is None else call["chunk"], *_told(call)) for call in calls]
    several = any(field in call for call in calls for field in _DEVICES)
    behind = "each device" if several else "the device"
    print_table(f"{title}: {_count(calls)}, and a synchronisation of {behind} behind them", _HEAD, rows)


def print_captured(graph: str, calls: Sequence[Mapping[str, Any]]) -> None:
    """A row for each call that was captured into ``graph``."""
    print_table(f"graph {graph}: {_count(calls)}, captured before", _HEAD[2:], [_told(call) for call in calls])


def _count(calls: Sequence[Mapping[str, Any]]) -> str:
    return f"{len(calls):,} call{'' if len(calls) == 1 else 's'}"


def _told(call: Mapping[str, Any]) -> tuple[str, ...]:
    """What is called, where, with which names and how much of it."""
    names = ", ".join(call[field] for field in _NAMES if field in call)
    return call["call"], call.get("stream", ""), names, ", ".join(_rest(call))


def _rest(call: Mapping[str, Any]) -> Iterator[str]:
    """How much a call is about, of what, and what it does not do as usual."""
    if "bytes" in call:
        yield format_quantity(call["bytes"], "bytes")
    if call.get("seconds"):
        yield seconds(call["seconds"])
    for field in ("kernel", "graph", "direction"):
        if field in call:
            yield call[field]
    for field, told in _DEVICES.items():
        if field in call:
            yield f"{told} {call[field]}"
    if call.get("pageable"):
        yield "pageable"
    if call.get("pool", "default") != "default":
        yield f"pool {call['pool']}"
    if call.get("poll"):
        yield "poll"
    if "syncs" in call:
        yield f"waits for {call['syncs']}"
