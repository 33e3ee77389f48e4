"""Ops on barriers that are not those of a ring: ``__syncthreads``, named barriers, and mbarriers declared by name.

``tile`` is that of all ops (`gpusim.program.ops`).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Arrive", "ClusterSync", "ExpectTx", "NamedBarrier", "SyncThreads", "Wait"]


@dataclass(frozen=True, slots=True)
class SyncThreads:
    """``__syncthreads()``: all warps of the CTA.

    ``warps``: only the first so many of the role, where a branch keeps the others from it. That is a mistake
    (`check_program`) unless it is all of them.
    """

    tile: int = -1
    warps: int | None = None


@dataclass(frozen=True, slots=True)
class ClusterSync:
    """``barrier.cluster.arrive`` and ``.wait``: all warps of all CTAs of the cluster."""

    tile: int = -1


@dataclass(frozen=True, slots=True)
class NamedBarrier:
    """``bar.sync id, 32*warps``: the first ``warps`` warps that arrive form one generation.

    Without ``wait`` ``bar.arrive``: the warp is counted and goes on.
    """

    id: int
    warps: int
    wait: bool = True
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Arrive:
    """``mbarrier.arrive`` on a barrier the program declares by name, one lane per warp.

    With ``cluster`` on that of each CTA of the cluster (``mbarrier.arrive.shared::cluster``), one lane for each.
    """

    barrier: str
    tile: int = -1
    cluster: bool = False


@dataclass(frozen=True, slots=True)
class ExpectTx:
    """``mbarrier.arrive.expect_tx``: arrive and add ``bytes`` to the pending transaction count."""

    barrier: str
    bytes: int
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Wait:
    """``mbarrier.try_wait`` loop until phase number ``phase`` (0, 1, 2 …) has completed.

    Hardware compares parity only; `Wait` returns at once for phase -1 (a fresh
    barrier), as a producer that starts with flipped parity does.
    """

    barrier: str
    phase: int
    tile: int = -1
