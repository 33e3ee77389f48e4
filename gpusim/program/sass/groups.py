"""Where groups of copies end: the compiler moves that in between what is computed behind them."""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.words import NO_MODEL, word_of

__all__ = ["COMPUTED", "committed_at_once"]

COMPUTED = ("compute", NO_MODEL)
"""Words of what touches no global memory and waits for nobody."""


def committed_at_once(body: Sequence[Instruction]) -> list[Instruction]:
    """``body`` with the end of each group of cp.async right behind its last copy.

    Nothing waits there, so that its place does not matter; but loads from shared memory and the products that use them
    belong to one step.
    """
    found: list[Instruction] = []
    # Where the last copy ends, as long as nothing but computing stands behind it; 0 if there is none
    behind = 0
    for one in body:
        if one.root == "LDGDEPBAR" and behind and _same_threads(one, found[behind - 1]):
            found.insert(behind, one)
            behind = 0
            continue
        found.append(one)
        if one.root == "LDGSTS":
            behind = len(found)
        elif word_of(one) not in COMPUTED:
            behind = 0
    return found


def _same_threads(one: Instruction, other: Instruction) -> bool:
    """Whether no branch parts them."""
    return (one.threads, one.jumped_over) == (other.threads, other.jumped_over)
