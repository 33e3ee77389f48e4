"""A piece of work on the device: what it must wait for, and when it ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import simpy

__all__ = ["Item"]


@dataclass(eq=False, slots=True)
class Item:
    """An op in a stream. ``kind``: copy, kernel, marker (a record or a wait), func.

    ``done`` happens when its successors may count it as finished. ``lane`` is the stream's.
    ``deps`` are pairs (item, reason of the wait). ``satisfiers`` is what a deadlock names.
    """

    kind: str
    lane: str
    label: str
    done: simpy.Event
    deps: list[tuple[Item, str]] = field(default_factory=list)
    chunk: int = -1
    enqueued_s: float = 0.0
    start_s: float = -1.0
    end_s: float = -1.0
    row: int = -1
    """Index of its interval in the timeline, -1 before it has one."""
    after: str = ""
    """As what it counts for its successors' hand-over: its kind, or for a marker that of what it stands for."""
    in_graph: bool = False
    payload: Any = None

    @property
    def name(self) -> str:
        """What it is called in a deadlock."""
        return f"{self.label} on {self.lane}"

    @property
    def finished(self) -> bool:
        """Whether it has ended."""
        return self.end_s >= 0.0

    @property
    def satisfiers(self) -> Sequence[str]:
        """Lanes that could let whoever waits for it go on."""
        return (self.lane,)
