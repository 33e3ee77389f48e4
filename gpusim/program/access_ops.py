"""Loads into registers, stores from them and atomics; what their fields have in common says `gpusim.program.ops`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GPC_SMS", "Atomic", "Load", "Store", "StoreShared", "WaitLoads"]

GPC_SMS = 16
"""SMs of a GPC (of some it is 18), which get CTAs of consecutive numbers: the most that ``shared_by`` counts."""


@dataclass(frozen=True, slots=True)
class Load:
    """``ld.global`` into registers: one batch issued back to back.

    With ``wait`` the role blocks until the data is there; without, `WaitLoads` does.
    ``width`` is bytes per lane and instruction; ``other`` the address instructions of
    one warp, ``masked`` its loads that no lane executes; ``l1_hit`` is
    the fraction of bytes found in L1, ``l1_wavefronts`` how often one instruction passes its data path where all are
    (0: as the addresses say), ``l2_hit`` the fraction of the others found in L2, of which the fraction ``on_the_way``
    still comes from DRAM, as others have just asked for it. ``completed``: fraction of the bytes
    around which other loads read the rest, so that DRAM opens what they lie in once for all. ``shared_by``: SMs of a
    GPC that ask for the same bytes at about the same time, which L2 gives to all of them at once. The bytes lie in so
    many ``pieces`` far from each other, of the role's warps together. The first ``warps`` of the role execute it; None:
    all. One of no bytes for which nothing blocks takes no time, but `WaitLoads` counts it.
    """

    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    wait: bool = True
    l1_hit: float = 0.0
    l1_wavefronts: float = 0.0
    l2_hit: float = 0.0
    on_the_way: float = 0.0
    completed: float = 0.0
    shared_by: float = 1.0
    pieces: int = 1
    align: int = 0
    stride: int = 0
    scatter: int = 0
    structure: int = 0
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class WaitLoads:
    """Block until of the earlier `Load`s of this role at most the ``pending`` youngest are still under way."""

    pending: int = 0
    tile: int = -1


@dataclass(frozen=True, slots=True)
class StoreShared:
    """``st.shared`` of ``bytes`` from registers, ``width`` bytes per lane; ``masked`` and ``warps`` as of `Load`."""

    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    ring: str | None = None
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Store:
    """``st.global`` of ``bytes`` from registers; does not block the role, unless the SM's queue of stores is full.

    ``l2_hit``: fraction that is overwritten or dropped in L2 and never reaches DRAM; ``completed``: fraction whose
    sectors, written in part, other stores complete before L2 gives them up, of the same thread if they are near enough
    to meet in L1. ``again``: distinct bytes of one CTA, if it writes the same ones again and again, as spilled
    registers; 0 if not. ``shift``: bytes behind the start of a sector at which each warp's lanes begin that write side
    by side, so that others complete the sectors at both ends; ``run``: bytes that are written so at about the same
    time, 0 for all of a CTA that has one tile or whose warps meet, and else those of one store. ``warps``: as of
    `Load`.
    """

    bytes: int
    width: int = 16
    other: float = 0.0
    l2_hit: float = 0.0
    completed: float = 0.0
    again: int = 0
    stride: int = 0
    scatter: int = 0
    shift: int = 0
    run: int = 0
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Atomic:
    """``red.global``, or ``atom.global`` with ``returns``: lanes update global memory, ``width`` bytes each.

    ``bytes``: those of all lanes that take part; of one lane of each warp, its ``width`` for each. With ``returns`` the
    role blocks until the old values are there. ``floating``: sums of floating point, which take longer if they meet at
    one value. ``distinct``: bytes of the distinct values that the whole grid updates again and again, 4 for one
    counter, 0 if nobody shares a value; with ``scatter`` each block of lanes lies anywhere among them, else lanes side
    by side go through them. ``l2_hit``: fraction whose sectors L2 holds; the others are read from DRAM and written
    back, unless L2 has room for all ``distinct`` bytes. The other fields are as of `Load`.
    """

    bytes: int
    width: int = 4
    other: float = 0.0
    masked: float = 0.0
    returns: bool = False
    floating: bool = False
    distinct: int = 0
    l2_hit: float = 0.0
    stride: int = 0
    scatter: int = 0
    warps: int | None = None
    tile: int = -1
