"""What instructions make of the number of the thread: what a register holds in each thread of a CTA.

Copies, shifts, sums, products, logic and shuffles of it with itself and with constants, 32 bits each.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.listing import Instruction

__all__ = ["FIRST_LANES", "MOST_THREADS", "ZEROS", "Numbers", "compared", "computed", "constant", "logic"]

MOST_THREADS = 1024
"""Threads that a CTA can have."""
ZEROS = ("RZ", "URZ")
"""Registers that hold nothing but 0."""

Numbers = np.ndarray
"""What a register holds, by thread: signed numbers of 32 bits."""
Known = Callable[[str], Numbers | None]
"""What is known of an operand."""

_THREAD = np.arange(MOST_THREADS, dtype=np.int64)
FIRST_LANES = _THREAD % WARP_SIZE == 0
_WORD = 1 << 32
_COPIES = ("MOV", "R2UR", "UMOV")
_COMPARISONS = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
}  # fmt: skip


def constant(text: str) -> Numbers | None:
    """The number that an operand is in all threads, if it is one."""
    if text in ZEROS:
        return np.zeros_like(_THREAD)
    digits = text.removeprefix("-")
    return _signed(np.full_like(_THREAD, int(text, 16))) if digits.startswith("0x") else None


def computed(one: Instruction, operands: Sequence[str], known: Known) -> Numbers | None:
    """What an instruction with one register as its result writes there, if it can be told."""
    if one.root in ("S2R", "S2UR"):
        return _THREAD if "SR_TID.X" in one.text else None
    if one.opcode == "SHFL.IDX":
        return _of_lane(known(operands[2]), operands[3])
    if one.opcode in _COPIES:
        return known(operands[1])
    arithmetic = _ARITHMETIC.get(one.root.removeprefix("U"))
    numbers = [known(operand) for operand in operands[1:4]] if arithmetic else []
    if arithmetic is None or any(each is None for each in numbers):
        return None
    found = arithmetic(one, operands, numbers)
    return None if found is None else _signed(found)


def compared(one: Instruction, left: Numbers | None, right: Numbers | None) -> np.ndarray | None:
    """In which threads the comparison that ``one`` makes of two numbers holds, if it can be told."""
    words = one.opcode.split(".")[1:]
    compare = next((_COMPARISONS[word] for word in words if word in _COMPARISONS), None)
    if left is None or right is None or compare is None:
        return None
    return compare(left % _WORD, right % _WORD) if "U32" in words else compare(left, right)


def logic(numbers: Sequence[Numbers], table: str) -> Numbers | None:
    """Bit by bit what a table makes of three numbers: bit 4 a + 2 b + c of it for a, b, c."""
    if not table.startswith("0x"):
        return None
    found = np.zeros_like(_THREAD)
    for at, values in enumerate(product((0, 1), repeat=3)):
        if int(table, 16) >> at & 1:
            picked = np.full_like(_THREAD, -1)
            for each, value in zip(numbers, values, strict=True):
                picked &= each if value else ~each
            found |= picked
    return found


def _of_lane(numbers: Numbers | None, lane: str) -> Numbers | None:
    """What one lane of each warp holds, in all of its threads; any lane of one if all hold the same."""
    if numbers is None:
        return None
    warps, at = numbers.reshape(-1, WARP_SIZE), constant(lane)
    if at is not None:
        return np.repeat(warps[:, at[0] % WARP_SIZE], WARP_SIZE)
    return numbers if (warps == warps[:, :1]).all() else None


def _shifted(one: Instruction, operands: Sequence[str], numbers: Sequence[Numbers]) -> Numbers | None:
    if ".R." not in one.opcode or ".HI" not in one.opcode or operands[1] not in ZEROS:
        return None
    return (numbers[2] if ".S32." in one.opcode else numbers[2] % _WORD) >> numbers[1] % 32


def _multiplied(one: Instruction, _operands: Sequence[str], numbers: Sequence[Numbers]) -> Numbers | None:
    return None if {"WIDE", "HI"} & set(one.opcode.split(".")) else numbers[0] * numbers[1] + numbers[2]


def _signed(numbers: Numbers) -> Numbers:
    """The lower 32 bits as a register has them."""
    return (numbers + _WORD // 2) % _WORD - _WORD // 2


_ARITHMETIC: dict[str, Callable[[Instruction, Sequence[str], Sequence[Any]], Numbers | None]] = {
    "SHF": _shifted,
    "IMAD": _multiplied,
    "IADD3": lambda _one, _operands, numbers: sum(numbers),
    "VIADD": lambda _one, _operands, numbers: sum(numbers),
    "LOP3": lambda _one, operands, numbers: logic(numbers, operands[4]),
}
"""By the root of the opcode, without the U of those for all threads of a warp."""
