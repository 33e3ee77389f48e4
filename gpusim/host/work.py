"""A piece of work on the device: what it must wait for, and when it ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpusim.engine import Event

__all__ = ["Item", "Staged", "engine_of"]

DEVICE_ENGINES = ("compute", "h2d", "d2h", "p2p")


def engine_of(kind: str, direction: str = "") -> str:
    """Whose queue a piece of work is in: copies on the device itself run beside kernels, not on a copy engine."""
    if kind == "copy":
        return "compute" if direction == "d2d" else direction
    return "compute" if kind == "kernel" else kind


@dataclass(eq=False, slots=True)
class Staged:
    """One staging buffer's part of a copy of ordinary memory; ``whole`` is shared by all its parts."""

    direction: str
    bytes: int
    whole: dict[str, float]
    last: bool


@dataclass(eq=False, slots=True)
class Item:
    """An op in a stream. ``kind``: copy, kernel, marker (a record or a wait), func.

    ``done`` happens when its successors may count it as finished. ``lane`` is the stream's.
    ``deps`` are pairs (item, reason of the wait). ``satisfiers`` is what a deadlock names.
    """

    kind: str
    lane: str
    label: str
    done: Event
    deps: list[tuple[Item, str]] = field(default_factory=list)
    chunk: int = -1
    enqueued_s: float = 0.0
    start_s: float = -1.0
    end_s: float = -1.0
    row: int = -1
    """Index of its interval in the timeline, -1 before it has one."""
    engine: str = ""
    """In whose queue it is (`engine_of`)."""
    after: str = ""
    """As what it counts for its successors' hand-over: its engine, or for a marker that of what it stands for."""
    before: Item | None = None
    """What is ahead of it in the same stream and queue."""
    polled: bool = False
    """Whether its queue found that it had to wait for another engine, so that it looks only now and then."""
    in_graph: int = 0
    """Number of the graph launch it belongs to; 0: none."""
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
