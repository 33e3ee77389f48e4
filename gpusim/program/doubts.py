"""What a kernel program leaves to luck: races that the simulated timing may happen to win, stages filled in part.

And loads that are waited for a turn late.

Those at named barriers are in `named_barriers`, those of warpgroups in `warpgroups`, what one role leaves out of
handing over a ring in `skipped_steps`.

No error, since what a program means by its bytes cannot be seen: warps may read only what they copied themselves.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator

from gpusim.program.barrier_ops import NamedBarrier, SyncThreads, Wait
from gpusim.program.kernel import KernelProgram, Ring, Role
from gpusim.program.named_barriers import mixed_meetings
from gpusim.program.ops import (
    Acquire,
    BulkWait,
    CommitGroup,
    Compute,
    CpAsync,
    Fill,
    Load,
    LoadCluster,
    Op,
    RegisterLoad,
    Release,
    StoreShared,
    TmaLoad,
    TmaStore,
    WaitFull,
    WaitGroup,
    WaitLoads,
)
from gpusim.program.role_names import in_words
from gpusim.program.skipped_steps import skipped_steps
from gpusim.program.tensor_ops import Wgmma, WgmmaWait
from gpusim.program.warpgroups import part_of_warpgroup

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
    tiles = program.head + max(program.turn, min(turns * program.turn, _MOST)) + program.tail
    tiles = min(program.most_tiles, tiles)
    bodies = {role: list(role.body(tiles)) for role in program.roles}
    for role, ops in bodies.items():
        if role.warps > 1:
            yield from _unmet(role, ops, rings, alone=len(bodies) == 1)
            yield from _waited_by_some(role, ops, alone=len(bodies) == 1)
        yield from _still_read(role, ops, rings)
        yield from _a_turn_late(role, ops)
        yield from _store_left(role, ops)
    yield from skipped_steps(program, bodies)
    yield from _never_acquired(program)
    yield from _never_waited_for(list(bodies.values()), rings)
    yield from _part_filled(list(bodies.values()), rings)
    yield from mixed_meetings(program)
    yield from part_of_warpgroup(program)


def _never_waited_for(bodies: list[list[Op]], rings: dict[str, Ring]) -> Iterator[str]:
    """Rings that bulk copies fill and that no role waits for, so that nothing is done with what they bring."""
    ops = [op for body in bodies for op in body]
    waited = {op.ring for op in ops if isinstance(op, WaitFull)}
    for name in rings:
        if name not in waited and any(isinstance(op, TmaLoad) and op.ring == name for op in ops):
            yield f"ring {name!r} is filled by bulk copies, but no role waits for it (wait: {name}): nothing uses them"


def _unmet(role: Role, ops: list[Op], rings: dict[str, Ring], *, alone: bool) -> Iterator[str]:
    """Reads of what other warps copied, and copies over what they read, without a barrier in between."""
    asked: set[Tile] = set()
    groups: deque[set[Tile]] = deque()
    # There for the warp that copied it, and not known to be there for others
    own: set[Tile] = set()
    # Ring to stage to the tile that was read from it since all have met
    read: dict[str, dict[int, int]] = defaultdict(dict)
    told: dict[tuple[str, str], str] = {}
    for op in ops:
        reads = isinstance(op, Compute | LoadCluster)
        ring = rings.get(op.reads or "" if reads else getattr(op, "ring", None) or "")
        if isinstance(op, SyncThreads | NamedBarrier | Wait | WaitFull) or (isinstance(op, Acquire) and not op.warps):
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
        elif reads:
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
            f"role {role.name!r} {did}, and no barrier lets them wait for each other; put {_barrier(role, alone)} in "
            "front, or say private: true of the ring if each warp reads only what it filled"
        )


def _waited_by_some(role: Role, ops: list[Op], *, alone: bool) -> Iterator[str]:
    """Copies by all warps where only some of them have waited until the stage is free, and no barrier in between."""
    some: dict[str, str] = {}
    stored: set[str] = set()
    told: set[str] = set()
    for op in ops:
        if isinstance(op, SyncThreads | NamedBarrier | Wait | WaitFull) or (isinstance(op, Acquire) and not op.warps):
            some.clear()
        elif isinstance(op, Acquire) and (op.warps or 0) < role.warps:
            some[op.ring] = f"where warps: {op.warps} of them acquire it"
        elif isinstance(op, TmaStore):
            stored.add(op.ring)
        elif isinstance(op, BulkWait):
            some |= dict.fromkeys(stored, "behind a bulk_wait, which holds up one thread")
        elif isinstance(op, CpAsync | StoreShared) and op.ring in some and op.ring not in told and op.warps != 1:
            told.add(op.ring)
            yield (
                f"role {role.name!r} fills ring {op.ring!r} by all its warps {some[op.ring]}; put "
                f"{_barrier(role, alone)} in front, so that the others wait as well"
            )


def _barrier(role: Role, alone: bool) -> str:
    """One at which all warps of a role meet, which is ``alone`` in its kernel or not."""
    return "sync_threads" if alone else f"named_barrier: {{id: 1, warps: {role.warps}}}"


def _still_read(role: Role, ops: list[Op], rings: dict[str, Ring]) -> Iterator[str]:
    """Stages that are filled or released while bulk stores or products of the same role may still read them.

    Who waits for these spares too many, or comes too early.
    """
    stores: deque[TmaStore] = deque()
    products: deque[Wgmma] = deque()
    told: set[str] = set()
    for op in ops:
        ring = rings.get(getattr(op, "ring", None) or "")
        if isinstance(op, TmaStore) and ring is not None:
            stores.append(op)
        elif isinstance(op, Wgmma):
            products.append(op)
        elif isinstance(op, BulkWait | WgmmaWait):
            under_way = stores if isinstance(op, BulkWait) else products
            while len(under_way) > op.pending:
                under_way.popleft()
        elif isinstance(op, Fill | Release) and ring is not None and ring.name not in told:
            for of, under_way, wait in (("tma_store", stores, "bulk_wait"), ("wgmma", products, "wgmma_wait")):
                same = [at.tile for at in under_way if _ring_of(at) == ring.name and not _apart(at, op, ring)]
                if not same or ring.name in told:
                    continue
                told.add(ring.name)
                does = f"copies tile {op.tile} into ring {ring.name!r} where"
                if isinstance(op, Release):
                    does = f"releases tile {op.tile} of ring {ring.name!r} while"
                yield (
                    f"role {role.name!r} {does} its {of} of tile {same[0]} may still read; put a {wait} in "
                    f"front that leaves {'fewer' if len(under_way) > 1 else 'none'} pending"
                )


def _store_left(role: Role, ops: list[Op]) -> Iterator[str]:
    """Bulk stores behind whose last nobody waits: they read shared memory that the CTA gives up at its end."""
    last = next((op for op in reversed(ops) if isinstance(op, TmaStore | BulkWait)), None)
    if isinstance(last, TmaStore) or (last is not None and last.pending):
        yield (
            f"role {role.name!r} ends with bulk stores under way, which may still read shared memory when the CTA has "
            "ended; put bulk_wait: 0 in the epilogue"
        )


def _ring_of(op: TmaStore | Wgmma) -> str | None:
    return op.ring if isinstance(op, TmaStore) else op.reads


def _apart(op: Op, other: Op, ring: Ring) -> bool:
    """Whether their tiles lie in different stages."""
    return (op.tile - other.tile) % ring.stages != 0


def _a_turn_late(role: Role, ops: list[Op]) -> Iterator[str]:
    """Loads whose wait stands in front of them: the first turn finds none, and that of the last turn is left over."""
    under_way: deque[RegisterLoad] = deque()
    for op in ops:
        if isinstance(op, RegisterLoad):
            under_way.append(op)
        if isinstance(op, WaitLoads) or (isinstance(op, RegisterLoad) and op.wait):
            pending = op.pending if isinstance(op, WaitLoads) else 0
            while len(under_way) > pending:
                under_way.popleft()
    earliest = next((op for op in ops if isinstance(op, Load) or (isinstance(op, WaitLoads) and op.tile >= 0)), None)
    if isinstance(earliest, WaitLoads) and any(
        isinstance(op, Load) and op.bytes and op.tile == earliest.tile for op in ops
    ):
        yield (
            f"role {role.name!r} waits for loads before it has asked for any, so that its first turn computes without "
            "data; put ahead: 1 on the load, or load the first tile in the prologue"
        )
    first = min((op.tile for op in ops if op.tile >= 0), default=0)
    if left := [op for op in under_way if op.bytes and op.tile > first]:
        yield (
            f"role {role.name!r} loads {left[-1].bytes} bytes in its last turn, and nothing waits for them; put "
            "ahead: 1 on the load, or skip_last: 1 if the prologue loads the first tile"
        )


def _never_acquired(program: KernelProgram) -> Iterator[str]:
    """Rings that somebody releases, and nobody waits for that before he fills them again."""
    for ring in program.rings:
        releases = program.roles_on(ring.name, Release)
        if not releases or program.roles_on(ring.name, Acquire) or program.most_tiles <= ring.stages:
            continue
        fills = sorted(program.roles_on(ring.name, Fill))
        yield (
            f"ring {ring.name!r} is released by {in_words(releases)} and acquired by nobody, so that nothing "
            f"keeps a tile from being overwritten; put acquire: {ring.name} in front of what fills it"
            + (f" in {in_words(fills)}" if fills else "")
            + ", or leave the release out if another barrier does"
        )


def _part_filled(bodies: list[list[Op]], rings: dict[str, Ring]) -> Iterator[str]:
    """Rings of which no tile is copied whole."""
    copied: dict[Tile, float] = defaultdict(float)
    for op in (op for ops in bodies for op in ops):
        if isinstance(op, Fill) and op.ring and op.tile >= 0:
            copied[op.ring, op.tile] += op.bytes
    for name, ring in rings.items():
        most = max((size for (of, _), size in copied.items() if of == name), default=ring.bytes)
        if 0 < most <= _FULL * ring.bytes:
            yield (
                f"ring {name!r} has stages of {ring.bytes} bytes, and no tile brings more than {most:.0f}; if that is "
                "all there is, smaller stages say so"
            )
