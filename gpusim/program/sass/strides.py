"""How far the addresses of a load, store or copy are apart from one lane to the next, where arithmetic says so.

Followed is what grows by the same amount from lane to lane: the thread's number, times constants, plus what all lanes
have alike. What comes from memory, or from divisions and masks of the thread's number, is not. Along straight code: of
a loop's second turn the same holds as of its first, in which what all lanes have alike is added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass.lanes import own_registers
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import globally_addressed, written

__all__ = ["with_strides"]

_REGISTER = re.compile(r"-?R(\d+)(?:\.reuse|\.64)?$")
_ACCESSES = ("LDG", "STG", "LDGSTS")
_REGISTER_BITS = 32
_OFFSET = re.compile(r"\[[^\]]*?\+(0x[0-9a-f]+)\]")


def with_strides(instructions: Sequence[Instruction]) -> list[Instruction]:
    """All ``instructions`` of a kernel; accesses to global memory, copies too, are marked with their lanes' stride.

    Those that together take all that lies between one lane and the next are marked as such, too.
    """
    if any("SR_TID.Y" in one.text for one in instructions):
        # A warp may be several rows of a block.
        return list(instructions)
    steps: dict[int, int] = {}
    found = []
    for one, own in zip(instructions, own_registers(instructions), strict=True):
        if one.root in _ACCESSES:
            known = {steps[register] for register in globally_addressed(one) if register in steps}
            found.append(replace(one, stride=known.pop()) if len(known) == 1 else one)
        else:
            found.append(one)
        step = _step(one, steps, own)
        results = written(one)
        for register in results:
            steps.pop(register, None)
        if step and results and not one.predicated:
            steps[results[0]] = step
    return _with_structures(found)


def _with_structures(instructions: list[Instruction]) -> list[Instruction]:
    taken: dict[tuple, set[int]] = {}
    for one in instructions:
        if one.stride:
            offset = _OFFSET.search(one.text)
            taken.setdefault(_whose(one), set()).add((int(offset[1], 16) if offset else 0) % one.stride)
    whole = {_whose(one) for one in instructions if one.stride and _complete(taken[_whose(one)], one.stride, one.width)}
    return [replace(one, whole=True) if one.stride and _whose(one) in whole else one for one in instructions]


def _complete(offsets: set[int], stride: int, width: int) -> bool:
    """Whether accesses of ``width`` bytes at ``offsets`` leave nothing out from one lane to the next."""
    return len(offsets) * width >= stride and offsets >= set(range(0, stride, width))


def _whose(one: Instruction) -> tuple[str, int, tuple[int, ...]]:
    """What accesses to parts of one structure have in common."""
    return one.opcode, one.stride or 0, tuple(globally_addressed(one))


def _step(one: Instruction, steps: dict[int, int], own: frozenset[int]) -> int | None:
    """By how much the result grows from lane to lane; None where nobody knows, or by nothing."""
    if one.root == "S2R":
        return 1 if "SR_TID.X" in one.text or "SR_LANEID" in one.text else None
    # Carries stand among them as predicates.
    operands = [operand for operand in one.operands[1:] if not re.match(r"!?U?P", operand)]
    grows = [_of(operand, steps, own) for operand in operands]
    factor = _factor(one, operands)
    if one.root in ("IADD3", "VIADD", "MOV") or one.opcode.startswith("IMAD.MOV"):
        return _sum(grows)
    if one.root == "LEA" and factor:
        return _sum([_times(grows[0], factor), grows[1]])
    if one.root == "SHF" and factor:
        return _times(grows[0], factor)
    if one.root == "IMAD" and ".HI" not in one.opcode and len(operands) >= 3:
        return _sum([_product(operands[0], grows[0], operands[1], grows[1]), grows[2]])
    return None


def _factor(one: Instruction, operands: Sequence[str]) -> int:
    """The power of two by which it multiplies, 0 if it names none."""
    at = 1 if one.opcode.startswith("SHF.L.U32") else 2 if one.opcode in ("LEA", "LEA.X") else len(operands)
    if len(operands) != 3 or at == len(operands) or not operands[at].startswith("0x"):
        return 0
    bits = int(operands[at], 16)
    return 1 << bits if bits < _REGISTER_BITS else 0


def _of(operand: str, steps: dict[int, int], own: frozenset[int]) -> int | None:
    """By how much an operand grows from lane to lane: 0 for what all have alike, None where nobody knows."""
    match = _REGISTER.match(operand)
    if match is None:
        return 0
    register = int(match[1])
    return steps.get(register) if register in own else 0


def _sum(grows: Sequence[int | None]) -> int | None:
    return None if None in grows else sum(filter(None, grows)) or None


def _product(one: str, grows: int | None, other: str, other_grows: int | None) -> int | None:
    if grows == 0 and other_grows == 0:
        return 0
    number, step = (other, grows) if other.startswith("0x") else (one, other_grows)
    return _times(step, int(number, 16)) if number.startswith("0x") else None


def _times(grows: int | None, factor: int) -> int | None:
    return None if grows is None else grows * factor
