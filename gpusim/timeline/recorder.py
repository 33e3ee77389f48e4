"""How a model tells what happened when, without knowing who writes it down."""

from __future__ import annotations

from typing import Protocol

from gpusim.timeline.vocabulary import Kind, Reason

__all__ = ["Recorder"]


class Recorder(Protocol):
    """What `TimelineBuilder.add` is, or anything in its place."""

    def __call__(
        self,
        lane: str,
        kind: Kind,
        start_s: float,
        end_s: float,
        reason: Reason = "",
        tile: int = -1,
        stage: int = -1,
        bytes: int = 0,
        cause: int = -1,
    ) -> int:
        """Add one interval; returns its index, by which a later one can name it as its cause."""
        ...
