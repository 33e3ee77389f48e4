"""What a kernel program leaves to luck: races that the simulated timing may happen to win, stages filled in part.

No error, since what a program means by its bytes cannot be seen: warps may read only what they copied themselves.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator

from gpusim.program.barrier_ops import NamedBarrier, SyncThreads, Wait
from gpusim.program.kernel import KernelProgram, Ring, Role
from gpusim.program.ops import (
    Acquire,
    BulkWait,
    CommitGroup,
    Compute,
    CpAsync,
    Op,
    StoreShared,
    TmaLoad,
    TmaStore,
    WaitFull,
    WaitGroup,
)

__all__ = ["doubts"]

Tile = tuple[str, int]
"""A ring and a tile in it."""
_FULL = 0.75
"""Share of a stage from which on what is missing may be a halo, or what stays."""
_MOST = 64
"""Tiles that are looked at; what is wrong with one is wrong with others."""


def doubts(program: KernelProgram) -> Iterator[str]:
    """Sentences that name role, ring and tile, and what to do; one for each ring and kind."""
    rings = {ring.name: ring for ring in program.rings}
    turns = max((ring.stages for ring in program.rings), default=0) + 2
    tiles = min(program.most_tiles, max(program.turn, min(turns * program.turn, _MOST)))
    bodies = {role: list(role.body(tiles)) for role in program.roles}
    for role, ops in bodies.items():
        if role.warps > 1:
            yield from _unmet(role, ops, rings)
        yield from _still_stored(role, ops, rings)
    yield from _part_filled(list(bodies.values()), rings)


def _unmet(role: Role, ops: list[Op], rings: dict[str, Ring]) -> Iterator[str]:
    """Reads of what other warps copied, and copies over what they read, without a barrier in between."""
    asked: set[Tile] = set()
    groups: deque[set[Tile]] = deque()
    own: set[Tile] = set()
    """There for the warp that copied it, and not known to be there for others."""
    read: dict[str, dict[int, int]] = defaultdict(dict)
    """Ring to stage to the tile that was read from it since all have met."""
    told: dict[tuple[str, str], str] = {}
    for op in ops:
        ring = rings.get(op.reads or "" if isinstance(op, Compute) else getattr(op, "ring", None) or "")
        if isinstance(op, SyncThreads | NamedBarrier | Wait | WaitFull | Acquire):
            own.clear()
            read.clear()
        elif isinstance(op, CommitGroup):
            groups.append(asked)
            asked = set()
        elif isinstance(op, WaitGroup):
            while len(groups) > op.pending:
                own |= groups.popleft()
        elif ring is None or ring.private or op.tile < 0:
            continue
        elif isinstance(op, Compute):
            if (ring.name, op.tile) in own:
                did = f"reads tile {op.tile} of ring {ring.name!r}, which its {role.warps} warps filled"
                told.setdefault(("read", ring.name), did)
            read[ring.name][op.tile % ring.stages] = op.tile
        elif isinstance(op, CpAsync | StoreShared):
            before = read[ring.name].get(op.tile % ring.stages, op.tile)
            if before != op.tile:
                did = f"fills ring {ring.name!r} with tile {op.tile} where its {role.warps} warps read tile {before}"
                told.setdefault(("write", ring.name), did)
            (own if isinstance(op, StoreShared) else asked).add((ring.name, op.tile))
    for did in told.values():
        yield (
            f"role {role.name!r} {did}, and no barrier lets them wait for each other; put sync_threads in front, or "
            "say private: true of the ring if each warp reads only what it filled"
        )


def _still_stored(role: Role, ops: list[Op], rings: dict[str, Ring]) -> Iterator[str]:
    """Bulk copies into a stage that a bulk store of the same role may still read: ``bulk_wait`` spares too many."""
    under_way: deque[TmaStore] = deque()
    told: set[str] = set()
    for op in ops:
        if isinstance(op, TmaStore) and op.ring in rings:
            under_way.append(op)
        elif isinstance(op, BulkWait):
            while len(under_way) > op.pending:
                under_way.popleft()
        elif isinstance(op, TmaLoad) and op.ring in rings and op.ring not in told:
            stages = rings[op.ring].stages
            same = [at.tile for at in under_way if at.ring == op.ring and (at.tile - op.tile) % stages == 0]
            if same:
                told.add(op.ring)
                yield (
                    f"role {role.name!r} copies tile {op.tile} into ring {op.ring!r} where its tma_store of tile "
                    f"{same[0]} may still read; put a bulk_wait in front that leaves fewer pending"
                )


def _part_filled(bodies: list[list[Op]], rings: dict[str, Ring]) -> Iterator[str]:
    """Rings of which no tile is copied whole."""
    copied: dict[Tile, float] = defaultdict(float)
    for op in (op for ops in bodies for op in ops):
        if isinstance(op, CpAsync | TmaLoad | StoreShared) and op.ring and op.tile >= 0:
            copied[op.ring, op.tile] += op.bytes
    for name, ring in rings.items():
        most = max((size for (of, _), size in copied.items() if of == name), default=ring.bytes)
        if 0 < most <= _FULL * ring.bytes:
            yield (
                f"ring {name!r} has stages of {ring.bytes} bytes, and no tile brings more than {most:.0f}; if that is "
                "all there is, smaller stages say so"
            )
