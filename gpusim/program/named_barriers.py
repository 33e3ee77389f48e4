"""Named barriers and the warps that come to them.

Counts on which roles do not agree or that do not come out, and warps that meet others than meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpusim.errors import listing
from gpusim.program.barrier_ops import NamedBarrier, SyncThreads
from gpusim.program.kernel import KernelProgram, Role
from gpusim.program.ops import Op
from gpusim.program.role_names import with_warps

__all__ = ["disputed_meetings", "mixed_meetings", "uneven_meetings"]

_FEW = 64
"""Tiles up to which meetings are counted one by one; those of more tiles are as many more as each turn has."""


@dataclass(slots=True)
class _Named:
    """What the roles say of one number."""

    roles: list[Role] = field(default_factory=list)
    counts: set[int] = field(default_factory=set)
    waits: bool = True
    """Whether all who come wait there."""
    anyone: bool = False
    """Whether somebody does."""

    @property
    def warps(self) -> int:
        return sum(role.warps for role in self.roles)

    @property
    def who(self) -> str:
        return with_warps(self.roles)


def disputed_meetings(program: KernelProgram) -> Iterator[str]:
    """Barriers of which two roles name different counts, so that neither lets the other one pass."""
    met: dict[int, tuple[str, set[int]]] = {}
    for role in program.roles:
        counts: dict[int, set[int]] = {}
        for op in program.sample(role):
            if isinstance(op, NamedBarrier):
                counts.setdefault(op.id, set()).add(op.warps)
        for number, warps in counts.items():
            other, known = met.setdefault(number, (role.name, warps))
            if known.isdisjoint(warps):
                yield (
                    f"named barrier {number} is met by {listing(sorted(known))} warps in role {other!r} and by "
                    f"{listing(sorted(warps))} in role {role.name!r}; state the warps of all roles together, or give "
                    "each role a number of its own"
                )


def uneven_meetings(program: KernelProgram) -> Iterator[str]:
    """Barriers at which the last warps of a CTA wait for ever, since those that come are no multiple of the count."""
    for number, named in _all_named(program).items():
        # Of too few warps, and of counts that change, the run tells who waits.
        if len(named.counts) > 1 or not named.waits or not 0 < (count := min(named.counts)) <= named.warps:
            continue
        for tiles in {program.fewest_tiles, program.most_tiles}:
            came = sum(role.warps * _meetings(program, role, number, tiles) for role in named.roles)
            if left := came % count:
                yield (
                    f"named barrier {number} lets {count} warps pass at a time, and of a CTA {came:,} come, of "
                    f"{named.who}: {left} would wait for ever; state warps: {named.warps}"
                )
                break


def mixed_meetings(program: KernelProgram) -> Iterator[str]:
    """Barriers that let others pass than those who are meant to meet."""
    for number, named in _all_named(program).items():
        if not named.anyone:
            yield (
                f"{named.who} arrive at named barrier {number}, and nobody waits there; leave wait: false out of the "
                "roles that are to wait"
            )
        if len(named.counts) == 1 and named.waits and (count := min(named.counts)) < named.warps:
            yield (
                f"named barrier {number} lets any {count} warps of {named.who} pass; state warps: {named.warps}, or "
                "give those who meet a number and a role of their own"
            )
        if number == 0 and named.counts != {program.warps} and _meets_later(program):
            yield (
                f"named barrier 0 of {named.who} is that of sync_threads as well, at which all others meet; give it "
                "another number"
            )


def _all_named(program: KernelProgram) -> dict[int, _Named]:
    found: dict[int, _Named] = {}
    for role in program.roles:
        for op in program.sample(role):
            if isinstance(op, NamedBarrier):
                named = found.setdefault(op.id, _Named())
                if role not in named.roles:
                    named.roles.append(role)
                named.counts.add(op.warps)
                named.waits = named.waits and op.wait
                named.anyone = named.anyone or op.wait
    return found


def _meetings(program: KernelProgram, role: Role, number: int, tiles: int) -> int:
    """How often a role comes to a barrier in a CTA of so many tiles."""
    turn = program.turn
    left_out = max(tiles - max(_FEW, 2 * turn) - program.head - program.tail, 0) // turn
    few = tiles - left_out * turn
    found = _count(role.body(few), number)
    return found + left_out * (found - _count(role.body(few - turn), number)) if left_out else found


def _count(ops: Iterator[Op], number: int) -> int:
    return sum(isinstance(op, NamedBarrier) and op.id == number for op in ops)


def _meets_later(program: KernelProgram) -> bool:
    """Whether a role comes to ``sync_threads`` behind barrier 0: in front of it all have met before."""
    for ops in map(program.sample, program.roles):
        named = [place for place, op in enumerate(ops) if isinstance(op, NamedBarrier) and op.id == 0]
        meets = [place for place, op in enumerate(ops) if isinstance(op, SyncThreads)]
        if named and meets and max(meets) > min(named):
            return True
    return False
