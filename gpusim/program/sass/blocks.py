"""Blocks that a branch jumps over.

In a loop they are code for some turns only, or for some warps or lanes; outside of loops the rest of an unrolled loop,
which may run not at all. Nothing but the branch leads to such a block, and it ends where the branch goes. A few
instructions of arithmetic, which the compiler might as well have predicated, are none, nor is what is known to be for
some threads (`gpusim.program.sass.threads`). Outside of loops neither is what has a loop in it, which is jumped over
only where it would have no turn.

What stands behind an exit, or behind a jump past it, runs instead of what precedes it: the other half of a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.loops import Part, ways
from gpusim.program.sass.words import NO_MODEL, field_of, word_of

__all__ = ["with_blocks"]

_FEW = 8
"""Instructions up to which arithmetic is as well predicated."""
_MEMORY = ("lds", "sts", "atoms", "atomics", "generic addresses", "ldmatrix", "textures and surfaces")
"""How the fields begin that state accesses and shuffles, where the word does not say it."""


def with_blocks(parts: Sequence[Part]) -> list[Part]:
    """All ``parts`` of a kernel; what a branch of the same part jumps over is marked with that branch's address."""
    jumps = _jumps(parts)
    loops = [part.first for part in parts if part.is_loop]
    blocks = {
        branch: end
        for part in parts
        for branch, end in (_blocks(part, jumps) | _others(part, jumps)).items()
        if part.is_loop or not any(abs(branch) < first < end for first in loops)
    }
    return [replace(part, body=tuple(_marked(one, blocks) for one in part.body)) for part in parts]


def _marked(one: Instruction, blocks: dict[int, int]) -> Instruction:
    over = tuple(branch for branch, end in sorted(blocks.items()) if abs(branch) < one.address < end)
    return replace(one, jumped_over=over) if over else one


def _blocks(part: Part, jumps: dict[int, tuple[int, bool]]) -> dict[int, int]:
    """Where the blocks of a loop end, by the addresses of the branches that jump over them."""
    found = {}
    for one in part.body:
        end, conditional = jumps.get(one.address, (0, False))
        if not conditional or end > part.last:
            continue
        inside = [other for other in part.body if one.address < other.address < end]
        if not inside or _is_for_some_threads(inside[0], one):
            continue
        entered = any(
            one.address < target < end and not one.address < branch < end for branch, (target, _) in jumps.items()
        )
        if not entered and (len(inside) > _FEW or any(map(_is_access, inside))):
            found[one.address] = end
    return found


def _others(part: Part, jumps: dict[int, tuple[int, bool]]) -> dict[int, int]:
    """Where the other halves of choices end, by less the addresses of the exits or jumps behind which they stand."""
    found, body = {}, part.body
    goes = {one.address: ways(one, other.address) for one, other in pairwise(body)}
    for one, first in pairwise(body):
        if first.address in goes[one.address] or first.threads != one.threads:
            continue
        target = max(goes[one.address], default=0)
        end = target if target > first.address else _next_end(body, first, goes)
        if end > part.last + 1:
            continue
        inside = [other for other in body if first.address <= other.address < end]
        entries = {
            to for branch, (to, _) in jumps.items()
            if first.address <= to < end and not first.address <= branch < end
        }  # fmt: skip
        if entries == {first.address} and (len(inside) > _FEW or any(map(_is_access, inside))):
            found[-one.address] = end
    return found


def _next_end(body: Sequence[Instruction], first: Instruction, goes: dict[int, tuple[int, ...]]) -> int:
    """The address behind the next instruction, from ``first`` on, that never goes on to the one behind it."""
    behind = [(one, other) for one, other in pairwise(body) if one.address >= first.address]
    return next(
        (other.address for one, other in behind if other.address not in goes[one.address]), body[-1].address + 1
    )


def _is_for_some_threads(one: Instruction, branch: Instruction) -> bool:
    """Whether it is ``branch`` that keeps others from ``one``."""
    return one.threads is not None and one.threads != branch.threads


def _jumps(parts: Sequence[Part]) -> dict[int, tuple[int, bool]]:
    """Where the branches of a kernel go, and whether on a condition, by their addresses."""
    found = {}
    for one in (one for part in parts for one in part.body if one.root == "BRA"):
        to, *behind = ways(one, one.address)
        if to != one.address:
            found[one.address] = to, bool(behind)
    return found


def _is_access(one: Instruction) -> bool:
    return word_of(one) not in ("compute", NO_MODEL) or field_of(one).startswith(_MEMORY)
