"""Blocks that the compiler has put elsewhere, back to where they run.

A branch leads to such a block, and its last instruction jumps back to what stands behind the branch: the copies of a
later tile in front of the loop that asks for them, as they are left out at its end. Everything else here goes by the
order of addresses, so that these are given out anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.loops import ways
from gpusim.program.sass.words import NO_MODEL, word_of

__all__ = ["in_place"]

_BYTES = 16
"""Of an instruction."""
_GOES_TO = ("BRA", "JMP", "BSSY", "CALL", "WARPSYNC")
"""What has an address of the code as its last operand."""
_LAST_NUMBER = re.compile(r"0x[0-9a-f]+(?!.*0x)")


@dataclass(frozen=True)
class _Block:
    """The instructions from number ``first`` to ``last``, which run behind that with number ``branch``."""

    first: int
    last: int
    branch: int


def in_place(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The same kernel, with blocks that access memory where they run."""
    found = list(instructions)
    while (block := _out_of_line(found)) is not None:
        found = _moved(found, block)
    return found


def _out_of_line(found: Sequence[Instruction]) -> _Block | None:
    at = {one.address: number for number, one in enumerate(found)}
    behind = [*(one.address for one in found[1:]), None]
    goes = [ways(one, follower) for one, follower in zip(found, behind, strict=True)]
    entries: dict[int, list[int]] = {}
    for number, after in enumerate(goes):
        for to in after:
            if to != behind[number]:
                entries.setdefault(at.get(to, -1), []).append(number)
    for last, one in enumerate(found):
        if one.root != "BRA" or len(goes[last]) != 1 or goes[last][0] not in at:
            continue
        first = last
        while first > 0 and found[first].address in goes[first - 1]:
            first -= 1
        (branch, *others) = entries.get(first, [-1])
        inside = range(first, last + 1)
        alone = not others and branch not in inside and not any(entries.get(number) for number in inside[1:])
        if branch < 0 or not alone or len(goes[branch]) != 2 or at[goes[last][0]] != branch + 1 or branch == first - 1:
            continue
        if any(word_of(other) not in ("compute", NO_MODEL) for other in found[first:last]):
            return _Block(first, last, branch)
    return None


def _moved(found: Sequence[Instruction], block: _Block) -> list[Instruction]:
    body = list(found[block.first : block.last])
    branch, behind = found[block.branch : block.branch + 2]
    around = replace(branch, text=_the_other_way(branch.text, behind.address))
    order: list[Instruction] = []
    for number, one in enumerate(found):
        if number == block.branch:
            order += [around, *body]
        elif not block.first <= number <= block.last:
            order.append(one)
    base = found[0].address
    new = {one.address: base + _BYTES * number for number, one in enumerate(order)}
    return [replace(one, address=new[one.address], text=_to(one, new)) for one in order]


def _the_other_way(text: str, target: int) -> str:
    """A branch to ``target`` where it was not taken before."""
    if text.startswith("@"):
        turned = text[:1] + text[2:] if text[1] == "!" else f"@!{text[1:]}"
    else:
        turned = re.sub(r"(!?)(U?P\d)", lambda m: m[2] if m[1] else f"!{m[2]}", text, count=1)
    return _LAST_NUMBER.sub(f"0x{target:x}", turned)


def _to(one: Instruction, new: Mapping[int, int]) -> str:
    """The text of an instruction with the new address of where it goes."""
    if one.root not in _GOES_TO or not one.numbers or one.numbers[-1] not in new:
        return one.text
    return _LAST_NUMBER.sub(f"0x{new[one.numbers[-1]]:x}", one.text)
