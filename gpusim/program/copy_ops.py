"""Asynchronous copies: cp.async and its groups, bulk copies (TMA) and the waits for them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BULK_UNIT", "BulkWait", "CommitGroup", "CpAsync", "TmaLoad", "TmaStore", "WaitGroup"]

BULK_UNIT = 16
"""Sizes and addresses of bulk copies are multiples of so many bytes (PTX ISA, cp.async.bulk)."""


@dataclass(frozen=True, slots=True)
class CpAsync:
    """``cp.async`` (LDGSTS) of ``bytes`` into a ring stage, ``width`` bytes per lane.

    ``masked``: loads of each warp that no lane executes; the assembler puts three before each run of LDGSTS.
    ``on_the_way``, ``shared_by``, ``pieces``, ``warps``: as of `Load`. ``row`` bytes at a time lie side by side and
    begin on a sector, each row far from the others, and in shared memory one begins ``pitch`` bytes behind the other;
    0: all lie side by side, and rows in shared memory. With a ``row``, ``align`` says nothing.
    """

    ring: str
    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    l2_hit: float = 0.0
    on_the_way: float = 0.0
    shared_by: float = 1.0
    pieces: int = 1
    align: int = 0
    row: int = 0
    pitch: int = 0
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class CommitGroup:
    """``cp.async.commit_group``: close the group of all cp.async since the last one."""

    tile: int = -1


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """``cp.async.wait_group``: block until at most ``pending`` newest groups are in flight."""

    pending: int = 0
    tile: int = -1


@dataclass(frozen=True, slots=True)
class TmaLoad:
    """Arm the stage's full barrier (``arrive.expect_tx``) and issue one bulk copy into it.

    Or ``copies`` of them, equal parts of the ``bytes``, as so many lanes of the warp issue them. ``on_the_way``,
    ``shared_by``: as of `Load`. With ``multicast`` each CTA of the cluster asks for an equal part of the ``bytes``,
    which all of them get.
    """

    ring: str
    bytes: int
    l2_hit: float = 0.0
    on_the_way: float = 0.0
    shared_by: float = 1.0
    align: int = 0
    copies: int = 1
    multicast: bool = False
    tile: int = -1


@dataclass(frozen=True, slots=True)
class TmaStore:
    """Issue one bulk copy from the ring stage to global memory, and commit its bulk group."""

    ring: str
    bytes: int
    tile: int = -1


@dataclass(frozen=True, slots=True)
class BulkWait:
    """``cp.async.bulk.wait_group``: at most ``pending`` newest bulk stores remain.

    ``read``: recorded only. The model always waits until the source has been read; with ``read: false`` the device
    waits longer.
    """

    pending: int = 0
    read: bool = True
    tile: int = -1
