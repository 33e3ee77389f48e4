"""How producers and consumers hand over the stages of a ring."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Acquire", "ProducerCommit", "Release", "WaitFull"]


@dataclass(frozen=True, slots=True)
class Acquire:
    """Producer waits until the stage of ``tile`` has been released (``producer_acquire``).

    Or only the first ``warps`` of its role do, as where one of them asks for the copies of all.
    """

    ring: str
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class ProducerCommit:
    """Producer that wrote the stage itself arrives on its full barrier (``producer_commit``).

    ``asynchronous``: it arrives by itself when the warps' cp.async so far have landed
    (``cp.async.mbarrier.arrive.noinc``); they need no group.
    """

    ring: str
    asynchronous: bool = False
    tile: int = -1


@dataclass(frozen=True, slots=True)
class WaitFull:
    """Consumer waits until the stage of ``tile`` is full (``consumer_wait``)."""

    ring: str
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Release:
    """Consumer arrives on the stage's empty barrier (``consumer_release``), one lane per warp."""

    ring: str
    tile: int = -1
