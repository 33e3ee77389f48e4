"""The roles of a kernel: which warps run which of its loops.

Warps that a branch on their number sends into loops of their own have roles of their own. What stands in front of that
branch, or behind those loops, is part of all their roles; so are loops there that all warps run to prepare something,
as one that reads weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.loops import Part
from gpusim.program.sass.thread_numbers import FULL_WARP
from gpusim.program.sass.threads import ALL_THREADS, warps_in
from gpusim.program.sass.words import sets_up_mbarrier

__all__ = ["RoleParts", "by_role"]

_COPIES = frozenset(("LDGSTS", "UBLKCP", "UTMALDG", "SYNCS"))
"""Asynchronous copies, and operations on mbarriers."""


@dataclass(frozen=True)
class RoleParts:
    """The ``warps`` of a role, by their numbers, and what they execute; threads are marked where they are not all."""

    warps: tuple[int, ...]
    parts: tuple[Part, ...]


def by_role(parts: Sequence[Part], warps: int) -> list[RoleParts]:
    """What each role of a CTA of ``warps`` warps executes of ``parts``, all of one kernel; that of warp 0 first."""
    everyone = frozenset(range(warps))
    loops = [part for part in parts if part.is_loop and part.inside is None]
    run_by = {loop.name: warps_in(_threads(loop, parts)) & everyone for loop in loops}
    split = next((at for at, loop in enumerate(loops) if run_by[loop.name] != everyone), len(loops))
    if not any(_copies(loop, parts) for loop in loops[:split]):
        loops = loops[split:]
    groups: list[frozenset[int]] = []
    for loop in loops:
        group = run_by[loop.name]
        apart = [other for other in groups if not other & group]
        groups = [*apart, group.union(*(other for other in groups if other & group))]
    groups = [group for group in groups if group]
    return [_of(group, parts) for group in (sorted(groups, key=min) if len(groups) > 1 else [everyone])]


def _copies(loop: Part, parts: Sequence[Part]) -> bool:
    """Whether ``loop`` asks for asynchronous copies or waits on an mbarrier: then it prepares nothing."""
    body = [one for part in parts if loop.holds(part) for one in part.body]
    return any(one.root in _COPIES and not sets_up_mbarrier(one) for one in body)


def _threads(loop: Part, parts: Sequence[Part]) -> int:
    """Those that execute anything of ``loop`` and the loops inside it."""
    found = 0
    for part in parts:
        if loop.holds(part):
            for one in part.body:
                found |= ALL_THREADS if one.threads is None else one.threads
    return found


def _of(group: frozenset[int], parts: Sequence[Part]) -> RoleParts:
    threads = sum(FULL_WARP << warp * WARP_SIZE for warp in group)
    own = [replace(part, body=tuple(_seen_by(threads, part.body))) for part in parts]
    return RoleParts(tuple(sorted(group)), tuple(part for part in own if part.body))


def _seen_by(threads: int, body: Sequence[Instruction]) -> list[Instruction]:
    """Those of ``body`` that any of ``threads`` executes, marked with those that do if not all of them do."""
    found = []
    for one in body:
        own = threads if one.threads is None else one.threads & threads
        taking = own if one.taking is None else one.taking & own
        if own:
            found.append(
                replace(one, threads=None if own == threads else own, taking=None if taking == own else taking)
            )
    return found
