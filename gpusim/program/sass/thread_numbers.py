"""What instructions make of the number of the thread: what a register holds in each thread of a CTA.

Copies, shifts, sums, products, logic and shuffles of it, 32 bits each. What is added may be anything that the threads
of a warp have alike, as where an array begins or the loop has come to: the number is then known but for that.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.listing import Instruction

__all__ = [
    "ALIKE", "FIRST_LANES", "FULL_WARP", "LANE", "MOST_THREADS", "Number", "compared", "computed", "constant", "logic",
    "met", "places",
]  # fmt: skip

FULL_WARP = (1 << WARP_SIZE) - 1
"""All lanes of one warp."""
MOST_THREADS = 1024
"""Threads that a CTA can have."""
_THREAD = np.arange(MOST_THREADS, dtype=np.int64)
FIRST_LANES = _THREAD % WARP_SIZE == 0
_ZEROS = ("RZ", "URZ", "-RZ", "-URZ", "SRZ")
"""Registers that hold nothing but 0."""
_BITS = 32
_WORD = 1 << _BITS
_PREDICATE = re.compile(r"!?U?P(\d|T)$")
_COPIES = ("MOV", "R2UR", "UMOV", "S2R", "S2UR", "CS2R")
_COMPARISONS = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
}  # fmt: skip


class Number(NamedTuple):
    """What a register holds, ``by_thread``; if it is not ``exact`` there is something in it that a warp has alike.

    Of threads that differ in ``apart`` nobody knows by how much: rows of a matrix whose length is not known.
    """

    by_thread: np.ndarray
    exact: bool = True
    apart: np.ndarray | None = None

    @property
    def alike(self) -> bool:
        """Whether all threads of each warp have the same."""
        return _alike(self.by_thread) and (self.apart is None or _alike(self.apart))

    def __neg__(self) -> Number:
        return self._replace(by_thread=-self.by_thread)

    def plus(self, *others: Number) -> Number:
        """The sum."""
        apart = [each.apart for each in (self, *others) if each.apart is not None]
        return Number(
            sum((each.by_thread for each in others), self.by_thread),
            all(each.exact for each in (self, *others)),
            _told_apart(apart) if apart else None,
        )

    def times(self, other: Number) -> Number | None:
        """The product, if it can be told."""
        if self.exact and other.exact:
            return Number(self.by_thread * other.by_thread)
        if self.alike and other.alike:
            return ALIKE
        for factor, number in ((self, other), (other, self)):
            if factor.exact and (factor.by_thread == factor.by_thread[0]).all():
                return Number(number.by_thread * factor.by_thread, exact=False, apart=number.apart)
        for factor, number in ((self, other), (other, self)):
            if factor.alike:
                labels = [number.by_thread, *([] if number.apart is None else [number.apart])]
                return Number(np.zeros_like(_THREAD), exact=False, apart=_told_apart(labels))
        return None


def _told_apart(labels: Sequence[np.ndarray]) -> np.ndarray:
    """A number for each combination of ``labels``."""
    return np.unique(np.stack(labels), axis=1, return_inverse=True)[1].ravel()


def _alike(numbers: np.ndarray) -> bool:
    warps = numbers.reshape(-1, WARP_SIZE)
    return bool((warps == warps[:, :1]).all())


ALIKE = Number(np.zeros_like(_THREAD), exact=False)
"""What nobody knows, but that all threads of a warp have the same."""
LANE = Number(_THREAD % WARP_SIZE)
_Known = Callable[[str], Number | None]
"""What is known of an operand."""


def places(block: Sequence[int]) -> dict[str, Number]:
    """What a thread's place in a ``block`` of so many threads in x, y and z is, by the name of the register."""
    x, y, z = block
    found = {"X": _THREAD % x, "Y": _THREAD // x % y, "Z": _THREAD // (x * y) % z}
    return {f"SR_TID.{axis}": Number(number) for axis, number in found.items()}


def met(one: Number, other: Number) -> Number | None:
    """What is known of a register that holds ``one`` or ``other``: ``one``, but for what warps have alike."""
    if one.exact and other.exact and np.array_equal(one.by_thread, other.by_thread):
        return one
    same = one.apart is other.apart
    if one.apart is not None and other.apart is not None:
        same = np.array_equal(one.apart, other.apart)
    return one._replace(exact=False) if same and _alike(one.by_thread - other.by_thread) else None


def constant(text: str) -> Number | None:
    """The number that an operand is in all threads, if it is one."""
    if text in _ZEROS:
        return Number(np.zeros_like(_THREAD))
    return _word(Number(np.full_like(_THREAD, int(text, 16)))) if text.removeprefix("-").startswith("0x") else None


def computed(one: Instruction, operands: Sequence[str], known: _Known) -> Number | None:
    """What an instruction with one register as its result writes there, if it can be told."""
    if one.opcode == "SHFL.IDX":
        return _of_lane(known(operands[2]), operands[3])
    if one.root in _COPIES:
        return known(operands[1])
    if one.root == "HFMA2":
        return _two_halves(operands)
    arithmetic = _ARITHMETIC.get(one.root.removeprefix("U"))
    # Carries stand among them as predicates.
    sources = [operand for operand in operands[1:] if not _PREDICATE.match(operand)] if arithmetic else []
    numbers = [known(operand) for operand in sources]
    if arithmetic is None or any(each is None for each in numbers):
        return None
    found = arithmetic(one, numbers)
    if found is None and all(each.alike for each in numbers):
        return ALIKE
    return None if found is None else _word(found)


def compared(one: Instruction, left: Number | None, right: Number | None) -> np.ndarray | None:
    """In which threads the comparison that ``one`` makes of two numbers holds, if it can be told."""
    words = one.opcode.split(".")[1:]
    compare = next((_COMPARISONS[word] for word in words if word in _COMPARISONS), None)
    if left is None or right is None or compare is None or not (left.exact and right.exact):
        return None
    unsigned = "U32" in words
    return compare(*(each.by_thread % _WORD if unsigned else each.by_thread for each in (left, right)))


def logic(numbers: Sequence[Number], table: int) -> Number | None:
    """Bit by bit what a table makes of three numbers: bit 4 a + 2 b + c of it for a, b, c."""
    if not all(each.exact for each in numbers):
        return ALIKE if all(each.alike for each in numbers) else None
    found = np.zeros_like(_THREAD)
    for at, values in enumerate(product((0, 1), repeat=3)):
        if table >> at & 1:
            picked = np.full_like(_THREAD, -1)
            for each, value in zip(numbers, values, strict=True):
                picked &= each.by_thread if value else ~each.by_thread
            found |= picked
    return Number(found)


def _of_lane(number: Number | None, lane: str) -> Number | None:
    """What one lane of each warp holds, in all of its threads; any lane of one if all hold the same."""
    if number is None:
        return None
    at = constant(lane)
    if at is not None and number.apart is None:
        of_one = number.by_thread.reshape(-1, WARP_SIZE)[:, at.by_thread[0] % WARP_SIZE]
        return Number(np.repeat(of_one, WARP_SIZE), number.exact)
    return number if number.alike else None


def _two_halves(operands: Sequence[str]) -> Number | None:
    """A constant as compilers write it to use another pipe: zero, and two numbers of 16 bits added, the upper first."""
    if len(operands) != 5 or operands[1].lstrip("-") != "RZ" or operands[2] != "RZ":
        return None
    try:
        upper, lower = (int(np.float16(float(text)).view(np.uint16)) for text in operands[3:])
    except ValueError:
        return None
    return _word(Number(np.full_like(_THREAD, upper << 16 | lower)))


def _sum(one: Instruction, numbers: Sequence[Number]) -> Number | None:
    if "X" in one.opcode.split("."):
        return None
    first, *others = numbers
    return first.plus(*others)


def _shifted(one: Instruction, numbers: Sequence[Number]) -> Number | None:
    low, by, high = numbers
    words = one.opcode.split(".")
    if not by.exact:
        return None
    if "L" in words:
        return low.times(_power(by))
    if "R" not in words or "HI" not in words or not (high.exact and low.exact) or low.by_thread.any():
        return None
    return Number((high.by_thread if "S32" in words else high.by_thread % _WORD) >> by.by_thread % _BITS)


def _multiplied(one: Instruction, numbers: Sequence[Number]) -> Number | None:
    factor, other, added = numbers
    words = one.opcode.split(".")
    if "X" in words:
        return None
    found = factor.times(other)
    if "HI" in words:
        # As in a division by a constant; beyond 62 bits nobody needs it.
        exact = found is not None and found.exact and factor.by_thread.max() * float(other.by_thread.max()) < 1 << 62
        found = Number(found.by_thread >> _BITS) if exact and found.by_thread.min() >= 0 else None
    return None if found is None else found.plus(added)


def _shifted_and_added(one: Instruction, numbers: Sequence[Number]) -> Number | None:
    words = one.opcode.split(".")
    if words[1:] == ["HI"] and len(numbers) == 4:
        # As in a division of a signed number by a power of two, to which what the sign says is added first.
        shifted, added, high, by = numbers
        if not all(each.exact for each in (shifted, high, by)) or high.by_thread.any():
            return None
        found = Number(shifted.by_thread % _WORD >> _BITS - by.by_thread)
    elif words[1:] or len(numbers) != 3 or not numbers[2].exact:
        return None
    else:
        shifted, added, by = numbers
        found = shifted.times(_power(by))
    return None if found is None else found.plus(added)


def _power(by: Number) -> Number:
    """The power of two that a shift to the left multiplies by; beyond a register nothing is left."""
    return Number(np.where(by.by_thread < _BITS, 1 << by.by_thread % _BITS, 0))


def _logic(_one: Instruction, numbers: Sequence[Number]) -> Number | None:
    *three, table = numbers
    return logic(three, int(table.by_thread[0])) if len(three) == 3 else None


def _word(number: Number) -> Number:
    """The lower 32 bits as a register has them."""
    return number._replace(by_thread=(number.by_thread + _WORD // 2) % _WORD - _WORD // 2)


_ARITHMETIC: dict[str, Callable[[Instruction, Sequence[Number]], Number | None]] = {
    "SHF": _shifted, "IMAD": _multiplied, "LEA": _shifted_and_added, "IADD3": _sum, "VIADD": _sum, "LOP3": _logic,
}  # fmt: skip
"""By the root of the opcode, without the U of those for all threads of a warp."""
