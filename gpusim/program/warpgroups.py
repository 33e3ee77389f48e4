"""Warpgroups: four warps in a row, for all of which ``setmaxnreg`` is one instruction, and ``wgmma``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from gpusim.program.kernel import KernelProgram, Role
from gpusim.program.ops import SetMaxNReg
from gpusim.program.role_names import with_warps
from gpusim.program.tensor_ops import Wgmma

__all__ = ["WARPGROUP", "part_of_warpgroup", "split_warpgroups", "torn_products"]

WARPGROUP = 4
"""Warps in it, the first of which has a number that is a multiple of this."""

_Run = tuple[tuple[int, ...], list[Role]]
"""Registers that are asked for one after the other, and roles in a row that do so."""


def split_warpgroups(program: KernelProgram) -> Iterator[str]:
    """Roles that share a warpgroup and do not ask for the same registers: undefined, says PTX."""
    runs = _runs(program)
    missing = [_missing(run) for run in runs[:-1]]
    if sum(missing) <= program.idle_warps:
        return
    # Which of the warps are idle is not said: they may complete any warpgroup.
    for ((_, these), (_, others)), lacks in zip(pairwise(runs), missing, strict=True):
        if lacks:
            yield (
                f"setmaxnreg is for whole warpgroups of {WARPGROUP} warps in a row: that of {with_warps(these)} lacks "
                f"{lacks}, and the next are those of {with_warps(others[:1])}; give each whole warpgroups, or let "
                f"{sum(missing)} idle_warps complete them"
            )
            return


def part_of_warpgroup(program: KernelProgram) -> Iterator[str]:
    """A CTA whose last warpgroup is none, because it has fewer warps."""
    runs = _runs(program)
    if not runs or not runs[-1][0]:
        return
    lacks = _missing(runs[-1])
    if lacks > program.idle_warps - sum(map(_missing, runs[:-1])):
        yield (
            f"setmaxnreg is for whole warpgroups of {WARPGROUP} warps, and that of {with_warps(runs[-1][1])} lacks "
            f"{lacks}; count them as idle_warps"
        )


def torn_products(program: KernelProgram) -> Iterator[str]:
    """Roles that ask for ``wgmma`` and are no whole warpgroups."""
    before = 0
    for role in program.roles:
        begins, before = before, before + role.warps
        if not any(isinstance(op, Wgmma) for op in program.sample(role)):
            continue
        if role.warps % WARPGROUP:
            yield (
                f"role {role.name!r} has {role.warps} warps, and wgmma is executed by whole warpgroups of {WARPGROUP}; "
                f"give it {WARPGROUP * -(-role.warps // WARPGROUP)}"
            )
        # Which of the warps are idle is not said: they may complete the warpgroup before.
        elif (lacks := -begins % WARPGROUP) > program.idle_warps:
            others = list(program.roles[: program.roles.index(role)])
            yield (
                f"wgmma is executed by warpgroups of {WARPGROUP} warps in a row from a multiple of {WARPGROUP} on, and "
                f"in front of role {role.name!r} are the {begins} of {with_warps(others)}; put it first, or let "
                f"{lacks} idle_warps complete them"
            )


def _runs(program: KernelProgram) -> list[_Run]:
    asked = [(_registers(program, role), role) for role in program.roles]
    if not any(registers for registers, _ in asked):
        return []
    return [(registers, [role for _, role in run]) for registers, run in groupby(asked, key=lambda one: one[0])]


def _registers(program: KernelProgram, role: Role) -> tuple[int, ...]:
    return tuple(op.registers for op in program.sample(role) if isinstance(op, SetMaxNReg))


def _missing(run: _Run) -> int:
    """Warps that the last warpgroup of roles in a row lacks."""
    return -sum(role.warps for role in run[1]) % WARPGROUP
