"""Loads from and stores to shared memory of other CTAs of the cluster (distributed shared memory).

All CTAs of a cluster do the same, and so what one asks of the others they ask of it. What the fields have in common
says `gpusim.program.ops`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LoadCluster", "StoreCluster"]


@dataclass(frozen=True, slots=True)
class LoadCluster:
    """``ld.shared::cluster`` into registers, from other CTAs: one batch issued back to back.

    ``bytes`` of the whole role; what it loads from its own CTA is `Mix.lds`. ``width``, ``other``, ``masked``,
    ``wait`` and ``warps`` as of `Load`; `WaitLoads` waits for both kinds. ``reads`` names the ring whose stages are
    read: consumers in all CTAs of the cluster then free a stage together.
    """

    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    wait: bool = True
    reads: str | None = None
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class StoreCluster:
    """``st.shared::cluster`` of ``bytes`` from registers, to other CTAs; the role goes on.

    Barriers of the cluster and arrivals in it wait until they are there. ``width``, ``other``, ``masked`` and ``warps``
    as of `Load`.
    """

    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    warps: int | None = None
    tile: int = -1
