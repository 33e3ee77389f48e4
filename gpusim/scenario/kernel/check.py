"""What pydantic cannot see in a spelled-out kernel: names that refer to nothing, sizes that cannot be.

Deadlocks and overwritten stages are found by running the program, not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Any

from gpusim.errors import listing, nearest
from gpusim.program import BULK_UNIT
from gpusim.program.sass import LOADS
from gpusim.scenario.kernel.access_check import layout_problems
from gpusim.scenario.kernel.access_schema import InCluster
from gpusim.scenario.kernel.compute_check import compute_problems
from gpusim.scenario.kernel.op_lists import as_run, as_written, length
from gpusim.scenario.kernel.op_schema import REPEAT
from gpusim.scenario.kernel.schedule_schema import MAX_EVERY, ByPartOfRole
from gpusim.scenario.kernel.schema import MAX_TILES, PARTS, RoleSpec, SpelledKernel, TileTotal
from gpusim.scenario.kernel.spec import fill_arrivals, free_arrivals, turn_of
from gpusim.scenario.problem import Problem

__all__ = ["problems"]

LONGEST_TURN = 64
EVERY_TILE = ("acquire", "tma_load", "wait", "release", "producer_commit", "cp_async", "commit_group", "wait_group")
"""Words that fill, free or count the stages of a ring, tile by tile."""
SKIPS = ("skip_first", "skip_last")
MOST_DEALT = 1_000_000
"""CTAs of unequal tiles, each of which is placed for itself."""
SETTLED = 3
"""Tiles after which no further load is under way at the same time."""
MOST_OPS = 10_000
"""Ops of a list with its repeats written out; with more a prediction takes minutes."""


def problems(kernel: SpelledKernel) -> Iterator[Problem]:
    """Everything wrong with the references and sizes of ``kernel``, in file order."""
    most = kernel.most_tiles
    yield from _tile_problems(kernel.tiles_per_cta, kernel.grid, most)
    yield from _cluster_problems(kernel)
    if kernel.l2_warm and kernel.footprint is None:
        yield Problem(("footprint",), "is needed when l2_warm is true", "the distinct bytes read, such as 32 MiB")
    for name in kernel.rings:
        if name in kernel.roles:
            yield Problem(("rings", name), "has the same name as a role", "different names")
    if not most:
        yield Problem(("tiles_per_cta",), "gives no CTA a tile, so that no role ever runs", "at least 1 for one CTA")
    for role_name, role in kernel.roles.items():
        yield from _role_problems(role, ("roles", role_name), most)
        for part in PARTS:
            yield from _list_problems(kernel, role, part, ("roles", role_name, part))
        yield from _group_problems(role, ("roles", role_name, "per_tile"))
        yield from _wait_problems(role, ("roles", role_name))
    yield from _turn_problems(kernel)


def _list_problems(kernel: SpelledKernel, role: RoleSpec, part: str, place: tuple) -> Iterator[Problem]:
    """What is wrong with the op list ``part`` of ``role``: its length, its ops and its loops."""
    steps = getattr(role, part)
    if length(steps) > MOST_OPS:
        yield Problem(place, f"its repeats make {length(steps):,} ops", f"at most {MOST_OPS:,}")
    for path, word, spec in as_written(steps):
        below = (*place, *path)
        if word != REPEAT:
            yield from _op_problems(kernel, part, word, spec, below)
            if isinstance(spec, ByPartOfRole) and (spec.warps or 0) > role.warps:
                problem = f"is {spec.warps}, the role has {role.warps}"
                yield Problem((*below, "warps"), problem, f"at most {role.warps}")
        elif REPEAT not in path[:-1] and spec.times != int(spec.times):
            allowed = "a whole number, or 15.5 in a loop; else one turn's counts times the mean, in one op"
            yield Problem((*below, "times"), "is a mean, but the loop is in no other", allowed)


def _tile_problems(tiles: list[int] | TileTotal, grid: int, most: int) -> Iterator[Problem]:
    if not isinstance(tiles, TileTotal):
        if len(tiles) > 1 and len(tiles) != grid:
            yield Problem(
                ("tiles_per_cta",), f"lists {len(tiles)} CTAs, but grid is {grid}",
                "one number, one number per CTA, or {total: n} for all of them together",
            )  # fmt: skip
    elif most > MAX_TILES:
        yield Problem(
            ("tiles_per_cta", "total"), f"is {most:,} tiles for each of {grid:,} CTAs",
            f"at most {MAX_TILES:,} for one, {MAX_TILES * grid:,} in total",
        )  # fmt: skip
    elif tiles.total % grid and grid > MOST_DEALT:
        yield Problem(
            ("tiles_per_cta", "total"), f"does not come out even over {grid:,} CTAs",
            f"a multiple of the grid, or a grid of at most {MOST_DEALT:,}",
        )  # fmt: skip


def _role_problems(role: RoleSpec, path: tuple, tiles: int) -> Iterator[Problem]:
    if not any(getattr(role, part) for part in PARTS):
        yield Problem((*path, "per_tile"), "is empty, so that the role never does anything", "ops, or idle_warps: n")
    if role.offset >= role.every:
        yield Problem((*path, "offset"), f"is {role.offset} with every {role.every}", f"at most {role.every - 1}")
    elif role.offset >= tiles > 0:
        yield Problem(
            (*path, "offset"), f"the role never runs: it begins with tile {role.offset}, no CTA has more than {tiles}",
            f"at most {tiles - 1}",
        )  # fmt: skip


def _group_problems(role: RoleSpec, place: tuple) -> Iterator[Problem]:
    """Copies that run ahead, but whose groups do not: the first group then holds several tiles.

    That is no mistake where every group is waited for.
    """
    steps = list(as_written(role.per_tile))
    if not any(word == "wait_group" and spec.pending for _, word, spec in steps):
        return
    ahead: list[int | str] = []
    for path, word, spec in steps:
        if word == "cp_async":
            ahead.append(spec.ahead)
        elif word == "commit_group":
            if ahead and all(ahead) and not spec.ahead:
                yield Problem(
                    (*place, *path), f"its copies run ahead ({ahead[0]}), the group does not, so that the first group "
                    "holds the copies of several tiles and wait_group counts others than it seems",
                    f"commit_group: {{ahead: {ahead[0]}}}",
                )  # fmt: skip
            ahead.clear()


def _wait_problems(role: RoleSpec, place: tuple) -> Iterator[Problem]:
    """Waits that leave as many loads under way as there ever are, and so wait for nothing."""
    if any(length(getattr(role, part)) > MOST_OPS for part in PARTS):
        return
    most: dict[tuple, tuple[int, int]] = {}
    loads = (spec for _, word, spec in as_run(role.per_tile) if word in LOADS and not spec.wait)
    ahead = [spec.ahead for spec in loads if isinstance(spec.ahead, int)]
    under_way = 0
    for part in ("prologue", "before_loop", *("per_tile",) * SETTLED, "epilogue"):
        if part == "before_loop":
            # Those of the first tiles have been asked for before.
            under_way, ahead = under_way + sum(ahead), []
        for path, word, spec in as_run(getattr(role, part)):
            if word in LOADS:
                under_way = 0 if spec.wait else under_way + 1
            elif word == "wait_loads":
                here = (*place, part, *path)
                most[here] = spec.pending, max(under_way, most.get(here, (0, 0))[1])
                under_way = min(under_way, spec.pending)
    for path, (pending, found) in most.items():
        if pending >= found and pending:
            yield Problem(
                path, f"allows {pending} loads in flight, but there are never more than {found}, so it never waits",
                f"at most {max(found - 1, 0)}; each load op is one, whatever its bytes",
            )  # fmt: skip


def _turn_problems(kernel: SpelledKernel) -> Iterator[Problem]:
    """Roles that take turns must leave no tile of a ring to nobody, nor to more warps than its barrier counts."""
    turn = lcm(*(role.every for role in kernel.roles.values()))
    if any(role.offset >= role.every for role in kernel.roles.values()):
        return
    if turn > LONGEST_TURN:
        every = ", ".join(f"{name} {role.every}" for name, role in kernel.roles.items() if role.every > 1)
        yield Problem(
            ("roles",), f"the turns of its roles (every: {every}) come together only after {turn} tiles",
            f"at most {LONGEST_TURN}",
        )  # fmt: skip
        return
    together = turn_of(kernel)
    if together > MAX_EVERY:
        yield Problem(
            ("roles",), f"what its ops and roles do every so many tiles comes together only after {together:,} tiles",
            f"at most {MAX_EVERY:,}, the least common multiple of all `every`",
        )  # fmt: skip
        return
    if turn == 1:
        return
    for name, ring in kernel.rings.items():
        filled, freed = fill_arrivals(kernel, name), free_arrivals(kernel, name)
        for words, found, stated in (
            ("filled by {} arrivals", filled, ring.full_arrivals),
            ("waited for by {} warps", freed, ring.empty_arrivals),
        ):
            if stated is None and any(found) and min(found) != max(found):
                odd = next(tile for tile, count in enumerate(found) if count != found[0])
                yield Problem(
                    ("rings", name),
                    f"of every {turn} tiles number {odd} is {words.format(found[odd] or 'no')}, number 0 "
                    f"{words.format(found[0] or 'no')}, but all tiles of a stage have one barrier",
                    "the same number for every tile; see every and offset of the roles",
                )


def _op_problems(kernel: SpelledKernel, part: str, word: str, spec: Any, path: tuple) -> Iterator[Problem]:
    for field, known in (("ring", kernel.rings), ("reads", kernel.rings), ("barrier", kernel.barriers)):
        name = getattr(spec, field, None)
        if name and name not in known:
            kind = "barrier" if field == "barrier" else "ring"
            allowed = listing(known) or f"none; declare it under {kind}s"
            yield Problem((*path, field), f"there is no {kind} {name!r}", allowed, nearest(name, known))
            return
    yield from _time_problems(part, word, spec, path, kernel.most_tiles)
    yield from layout_problems(spec, path)
    if word == "tma_load" and 0 < spec.align < BULK_UNIT:
        yield Problem((*path, "align"), f"a bulk copy from an address that is a multiple of {spec.align}",
                      f"at least {BULK_UNIT}")  # fmt: skip
    yield from _in_cluster_problems(kernel, spec, path)
    if word == "compute":
        yield from compute_problems(spec, path)
    ring = getattr(spec, "ring", None)
    if spec.ahead == "full" and ring is None and len(kernel.rings) != 1:
        yield Problem((*path, "ahead"), "full needs to know the ring", "ring: name, or a number")
    if hasattr(spec, "bytes"):
        yield from _size_problems(kernel, word, spec, path)


def _cluster_problems(kernel: SpelledKernel) -> Iterator[Problem]:
    if kernel.grid % kernel.cluster:
        what = f"expected whole clusters of {kernel.cluster} CTAs, got {kernel.grid}"
        yield Problem(("grid",), what, f"a multiple of {kernel.cluster}")


def _in_cluster_problems(kernel: SpelledKernel, spec: Any, path: tuple) -> Iterator[Problem]:
    if kernel.cluster > 1:
        return
    field = next((name for name in ("multicast", "cluster") if getattr(spec, name, False)), "")
    if field or isinstance(spec, InCluster):
        what = "reaches the CTAs of a cluster, and the kernel has none"
        yield Problem((*path, field) if field else path, what, "cluster: 2, 4 or 8 of the kernel")


def _time_problems(part: str, word: str, spec: Any, path: tuple, tiles: int) -> Iterator[Problem]:
    """What is wrong with when an op runs."""
    if part != "per_tile" and spec.ahead:
        yield Problem((*path, "ahead"), f"means nothing in {part}", "tile: n")
    if part == "per_tile" and spec.tile is not None:
        yield Problem((*path, "tile"), "is the iteration's own tile in per_tile", "ahead: n")
    if part != "per_tile" or word in EVERY_TILE:
        why = f"means nothing in {part}" if part != "per_tile" else f"{word} belongs to every tile of its ring"
        if spec.every > 1:
            yield Problem((*path, "every"), why, "1, or every and offset of the role")
        for skip in SKIPS:
            if getattr(spec, skip):
                yield Problem((*path, skip), why, "0")
    elif spec.skip_first or spec.skip_last:
        yield from _skip_problems(spec, path, tiles)
    if spec.offset >= spec.every:
        yield Problem((*path, "offset"), f"is {spec.offset} with every {spec.every}", f"at most {spec.every - 1}")


def _skip_problems(spec: Any, path: tuple, tiles: int) -> Iterator[Problem]:
    """What is wrong with an op that is left out at the ends of a CTA, the longest of which has so many ``tiles``."""
    if spec.skip_last and spec.ahead:
        why = "goes along with ahead, which leaves out what would be for tiles past the end"
        yield Problem((*path, "skip_last"), why, "ahead or skip_last")
    elif tiles and (more := spec.first_tile + spec.skip_last + 1 - tiles) > 0:
        skip = "skip_first" if spec.skip_first else "skip_last"
        number = getattr(spec, skip)
        yield Problem(
            (*path, skip), f"is {number}: the op never runs, as no CTA has more than {tiles} tiles",
            f"at most {max(number - more, 0)}",
        )  # fmt: skip


def _size_problems(kernel: SpelledKernel, word: str, spec: Any, path: tuple) -> Iterator[Problem]:
    ring = getattr(spec, "ring", None)
    if spec.bytes is None and ring is None and len(kernel.rings) != 1:
        yield Problem(path, "needs bytes, as the kernel has not exactly one ring", "bytes: 16 KiB")
        return
    stage = kernel.rings[ring].bytes if ring else None
    if stage is not None and spec.bytes is not None and spec.bytes > stage:
        yield Problem((*path, "bytes"), f"{spec.bytes} B do not fit a stage of {stage} B", f"at most {stage}")
    size = spec.bytes if spec.bytes is not None else stage
    copies = getattr(spec, "copies", 1) * (kernel.cluster if getattr(spec, "multicast", False) else 1)
    if word in ("tma_load", "tma_store") and size % (BULK_UNIT * copies):
        what = f"{copies} bulk copies of {size} B together" if copies > 1 else f"a bulk copy of {size} B"
        yield Problem((*path, "bytes"), what, f"a multiple of {BULK_UNIT * copies}")
