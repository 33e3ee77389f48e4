"""Which registers an instruction of a disassembly reads and writes, as far as waits for loads hang on them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpusim.program.sass.listing import Instruction

__all__ = ["addressed", "globally_addressed", "loaded", "read", "touched", "written"]

_REGISTERS = re.compile(r"\bR(\d+)(\.64)?")
_ADDRESS = re.compile(r"\[([^\]]*)\]")
_WORD = 4
"""Bytes that one register holds."""
_KEEPS = ("ST", "RED", "BRA", "BAR", "SYNCS", "UBLKCP", "UTMA", "EXIT", "NOP", "DEPBAR", "LDGDEPBAR", "LDGSTS", "FCHK")
"""Opcodes, or how they begin, that write no register."""
_PREDICATE = re.compile(r"^U?P[T\d]")


def loaded(one: Instruction) -> range:
    """Registers that a load writes: the first operand, two or four of them if it is wide."""
    match = _REGISTERS.search(one.text)
    first = int(match[1]) if match else 0
    return range(first, first + one.width // _WORD) if match else range(0)


def addressed(one: Instruction) -> Iterator[int]:
    """Registers that make the address of an access, or the two of a copy."""
    for operand in _ADDRESS.findall(one.text):
        yield from _named(operand)


def globally_addressed(one: Instruction) -> list[int]:
    """Registers that make the address in global memory, of a copy too: it stands last."""
    return list(_named((_ADDRESS.findall(one.text) or [""])[-1]))


def _named(operand: str) -> Iterator[int]:
    for first, wide in _REGISTERS.findall(operand):
        yield from range(int(first), int(first) + (2 if wide else 1))


def touched(one: Instruction) -> Iterator[int]:
    """Registers that an instruction reads or, which waits as well, writes."""
    yield from written(one)
    yield from read(one)


def written(one: Instruction) -> range:
    """Registers that an instruction writes."""
    if one.opcode.startswith("LD") and not one.opcode.startswith(_KEEPS):
        return loaded(one)
    operands = one.operands
    match = _REGISTERS.match(operands[_result(operands)])
    if match is None or one.opcode.startswith(_KEEPS) or "SETP" in one.opcode:
        return range(0)
    return range(int(match[1]), int(match[1]) + (2 if ".WIDE" in one.opcode else 1))


def read(one: Instruction) -> Iterator[int]:
    """Registers whose values an instruction needs."""
    operands = one.operands
    sources = operands[_result(operands) + 1 :] if written(one) else operands
    found = [register for operand in sources for register in _REGISTERS.findall(operand)]
    for number, (first, wide) in enumerate(found):
        # Addresses are one register or two; the data of a store, its last operand, are as many as it stores.
        data = one.opcode.startswith("ST") and number > 0
        yield from range(int(first), int(first) + (one.width // _WORD if data else 2 if wide else 1))


def _result(operands: list[str]) -> int:
    """Which one is the result: a shuffle's, or a comparison's, stands behind predicates."""
    return next((at for at, operand in enumerate(operands) if not _PREDICATE.match(operand)), 0)
