"""Which instructions a branch keeps all but the first threads of a CTA from: ``if (threadIdx.x == 0)``.

Followed are the thread's number, the warp's, their copies, and comparisons of these with a constant, along every way
that the instructions can be run in. What other conditions keep threads from is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf

from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.listing import Instruction

__all__ = ["with_threads"]

_COPIES = ("MOV", "IMAD.MOV.U32", "R2UR", "UMOV", "SHFL.IDX")
_RESULT = re.compile(r"(U?R)(\d+)")
_PREDICATE = re.compile(r"U?P(\d|T)$")
_WORDS = {"128": 4, "64": 2, "WIDE": 2, "F64": 2}
"""Registers of a result by the opcode's modifiers."""
_PAIRS = ("CS2R", "DFMA", "DADD", "DMUL", "DMNMX")
"""Opcodes whose result is two registers without saying so."""
_THREAD, _WARP = 1, WARP_SIZE
"""Threads for which a register holds the same number: that of the thread, or of its warp."""


@dataclass(frozen=True)
class _Known:
    """What is known where the instructions have come to."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    """Registers that hold the number of the thread or warp."""
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Predicates: how many threads can have it true, and false."""
    threads: float = inf
    """So many of the first threads come here."""

    def without(self, names: Sequence[str]) -> _Known:
        """The same, when something else has been written to ``names``."""
        numbers = {name: kind for name, kind in self.numbers.items() if name not in names}
        limits = {name: limit for name, limit in self.limits.items() if name not in names}
        return _Known(numbers, limits, self.threads)

    def met(self, other: _Known | None) -> _Known:
        """What is known where two ways meet."""
        if other is None:
            return self
        return _Known(
            dict(self.numbers.items() & other.numbers.items()),
            dict(self.limits.items() & other.limits.items()),
            max(self.threads, other.threads),
        )

    def where(self, predicate: str) -> _Known:
        """For those who have ``predicate``, such as ``!P0``, true."""
        return replace(self, threads=min(self.threads, self.limit(predicate)[0]))

    def limit(self, predicate: str) -> tuple[float, float]:
        """How many threads can have ``predicate`` true, and false."""
        name = predicate.removeprefix("!")
        true, false = (inf, 0) if name in ("PT", "UPT") else self.limits.get(name, (inf, inf))
        return (true, false) if name == predicate else (false, true)


def with_threads(instructions: Sequence[Instruction]) -> list[Instruction]:
    """All ``instructions`` of a kernel, those marked that only so many of its first threads come to."""
    at: dict[int, _Known] = {}
    again = True
    while again:
        found, again = _pass(instructions, at)
    return found


def _pass(instructions: Sequence[Instruction], at: dict[int, _Known]) -> tuple[list[Instruction], bool]:
    """One way through all ``instructions``, and whether a branch back has changed what is known at its target.

    ``at``: what is known by those who come to the target of a branch; less and less.
    """
    now: _Known | None = _Known()
    found, again = [], False
    for one in instructions:
        target = at.get(one.address)
        now = target if now is None else now.met(target)
        if now is None:
            # Nothing that has been seen leads here, as to code put behind the kernel, to which only a call does.
            now = _Known()
        found.append(one if now.threads == inf else replace(one, threads=int(now.threads)))
        operands = [operand.removesuffix(".reuse") for operand in one.operands]
        if one.root in ("BRA", "EXIT", "RET"):
            condition = operands[0] if one.root == "BRA" and len(operands) > 1 else one.predicate
            taken, left = (now.where(condition), now.where(_inverted(condition))) if condition else (now, None)
            if one.root == "BRA" and one.numbers and one.numbers[-1] != one.address:
                goal = one.numbers[-1]
                known = taken.met(at.get(goal))
                again |= goal <= one.address and known != at.get(goal)
                at[goal] = known
            now = left
        else:
            now = _after(one, operands, now)
    return found, again


def _after(one: Instruction, operands: Sequence[str], now: _Known) -> _Known:
    """What is known behind an instruction."""
    results = list(_results(one, operands))
    behind = now.without(results)
    if one.predicate or not results:
        return behind
    sources = [operand for operand in operands[1:] if operand not in ("RZ", "URZ", "PT", "UPT")]
    if "SETP" in one.opcode or one.root == "PLOP3":
        limit = _compared(one, operands, now) if "SETP" in one.opcode else _looked_up(operands, now)
        known = {results[0]: limit} if operands[0] == results[0] and min(limit) < inf else {}
        return replace(behind, limits={**behind.limits, **known})
    kind = None
    if one.root == "S2R" and "SR_TID.X" in one.text:
        kind = _THREAD
    elif one.opcode in _COPIES:
        kind = next((now.numbers[name] for name in sources if name in now.numbers), None)
    elif one.opcode.startswith(("SHF.R.U32.HI", "USHF.R.U32.HI")) and "0x5" in sources and len(sources) == 2:
        kind = _WARP if now.numbers.get(sources[1]) == _THREAD else None
    result = results[-1] if one.opcode == "SHFL.IDX" else results[0]
    return behind if kind is None else replace(behind, numbers={**behind.numbers, result: kind})


def _compared(one: Instruction, operands: Sequence[str], now: _Known) -> tuple[float, float]:
    """How many threads can have the predicate true and false that a comparison sets, with another beside it."""
    true, false = inf, inf
    if len(operands) < 5:
        return true, false
    number, constant, other = operands[2:5]
    if number in now.numbers and (constant in ("RZ", "URZ") or constant.startswith("0x")):
        each, bound = now.numbers[number], int(constant, 16) if constant.startswith("0x") else 0
        for word in one.opcode.split(".")[1:]:
            if word in ("EQ", "NE") and not bound:
                true, false = (each, inf) if word == "EQ" else (inf, each)
            elif word in ("LT", "GE"):
                true, false = (bound * each, inf) if word == "LT" else (inf, bound * each)
            elif word in ("LE", "GT"):
                true, false = ((bound + 1) * each, inf) if word == "LE" else (inf, (bound + 1) * each)
    beside = now.limit(other)
    if ".OR" in one.opcode:
        return max(true, beside[0]), min(false, beside[1])
    return (min(true, beside[0]), max(false, beside[1])) if ".AND" in one.opcode else (inf, inf)


def _looked_up(operands: Sequence[str], now: _Known) -> tuple[float, float]:
    """The same of what a table makes of three predicates: bit 4 a + 2 b + c of it for a, b, c."""
    if len(operands) < 6 or not operands[5].startswith("0x"):
        return inf, inf
    table, limits = int(operands[5], 16), [now.limit(name) for name in operands[2:5]]
    found = [0.0, 0.0]
    for values in product((0, 1), repeat=3):
        false = not table >> (4 * values[0] + 2 * values[1] + values[2]) & 1
        threads = min(limit[not value] for limit, value in zip(limits, values, strict=True))
        found[false] = max(found[false], threads)
    return found[0], found[1]


def _results(one: Instruction, operands: Sequence[str]) -> Iterator[str]:
    """Registers and predicates that an instruction writes, or perhaps: its first operands."""
    root, *modifiers = one.opcode.split(".")
    words = 2 if root in _PAIRS else max((_WORDS.get(modifier, 1) for modifier in modifiers), default=1)
    registers = 0 if "SETP" in one.opcode else 1
    for operand in operands:
        match = _RESULT.match(operand)
        if match and registers:
            registers -= 1
            yield from (f"{match[1]}{number}" for number in range(int(match[2]), int(match[2]) + words))
        elif _PREDICATE.match(operand):
            yield operand
        else:
            return


def _inverted(predicate: str) -> str:
    return predicate.removeprefix("!") if predicate.startswith("!") else f"!{predicate}"
