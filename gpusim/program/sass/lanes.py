"""Which accesses want the same address in all lanes of a warp.

What a register holds may differ between lanes if it comes from the thread's number, or from anything that does.
Followed along every way that the instructions can be run in; what lanes get by taking different branches is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass.atomics import SHARED_ATOMIC
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import addressed, read, written

__all__ = ["own_registers", "with_addresses"]

_SAME = ("SR_CTAID", "SR_NCTAID", "SR_NTID", "SR_CgaCtaId", "SR_VIRTUALSMID", "SR_SMID", "SR_CLOCK", "SRZ")
"""Special registers that all lanes of a warp see alike."""
_APART = ("S2R", "CS2R", "SHFL", "LDL", "ATOM", "ATOMG", "ATOMS", "R2P")
"""What brings each lane its own, unless it is one of those."""
_ACCESSES = ("LDG", "LDS", SHARED_ATOMIC)
_PREDICATES = re.compile(r"\bP(\d)\b")


def with_addresses(instructions: Sequence[Instruction]) -> list[Instruction]:
    """All ``instructions`` of a kernel, those accesses marked that want one address in all lanes."""
    return [
        replace(one, one_address=True) if one.root in _ACCESSES and own.isdisjoint(addressed(one)) else one
        for one, own in zip(instructions, own_registers(instructions), strict=True)
    ]


def own_registers(instructions: Sequence[Instruction]) -> list[frozenset[int | str]]:
    """For each instruction the registers and predicates in which lanes may differ when they come to it."""
    # What nothing writes, as in a part of a listing, nobody knows.
    unknown = {register for one in instructions for register in read(one)}
    unknown -= {register for one in instructions for register in written(one)}
    at_target: dict[int, set[int | str]] = {instructions[0].address: {*unknown}} if instructions else {}
    while True:
        found, again = _pass(instructions, at_target)
        if not again:
            return found


def _pass(
    instructions: Sequence[Instruction], at_target: dict[int, set[int | str]]
) -> tuple[list[frozenset[int | str]], bool]:
    """One way through all ``instructions``, and whether a branch back has changed what is known at its target.

    ``at_target``: registers and predicates in which lanes may differ when they come to the target of a branch; grows.
    """
    own: set[int | str] = set()
    found, again = [], False
    for one in instructions:
        own = own | at_target.get(one.address, set())
        found.append(frozenset(own))
        results = {*written(one), *_set_predicates(one)}
        if _differs(one, own):
            own = own | results
        elif not one.predicated:
            own = own - results
        if one.opcode.startswith("BRA") and one.numbers:
            target = one.numbers[-1]
            known = at_target.setdefault(target, set())
            again |= target <= one.address and not own <= known
            known |= own
        if one.opcode.startswith(("BRA", "EXIT", "RET")) and not one.predicated:
            own = set()
    return found, again


def _differs(one: Instruction, own: set[int | str]) -> bool:
    """Whether lanes may get different results, if they have their ``own`` registers and predicates."""
    if one.root in _APART and not any(name in one.text for name in _SAME):
        return True
    return not own.isdisjoint(read(one)) or not own.isdisjoint(_read_predicates(one))


def _set_predicates(one: Instruction) -> list[str]:
    """Predicates that a comparison sets: its first operands."""
    if "SETP" not in one.opcode:
        return []
    operands = one.text.split(one.opcode, 1)[1].split(",")
    return [f"P{number}" for operand in operands[:2] for number in _PREDICATES.findall(operand)]


def _read_predicates(one: Instruction) -> list[str]:
    """All other predicates, that under which it executes among them."""
    results = _set_predicates(one)
    return [name for name in (f"P{number}" for number in _PREDICATES.findall(one.text)) if name not in results]
