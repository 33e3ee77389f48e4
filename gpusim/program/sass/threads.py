"""Which threads of a CTA come to an instruction, and how often the accesses of their lanes pass shared memory.

Followed is what the code computes from the thread's number, for each number a CTA can have, and what branches on
comparisons of it let through, along every way that the instructions can be run in: ``if (threadIdx.x == 0)``, warps
that have roles of their own, columns of a tile. What other conditions keep threads from is not seen; of CTAs of two or
three dimensions nothing is, unless it is said how many threads each has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.global_places import places_of, stride_of
from gpusim.program.sass.lanes import own_registers
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.shared_words import passes
from gpusim.program.sass.thread_numbers import (
    ALIKE,
    FIRST_LANES,
    FULL_WARP,
    LANE,
    MOST_THREADS,
    Number,
    compared,
    computed,
    constant,
    logic,
    met,
    places,
)

__all__ = ["ALL_THREADS", "warps_in", "with_threads"]

ALL_THREADS = (1 << MOST_THREADS) - 1
"""Told by a number whose bit i stands for thread i."""
_RESULT = re.compile(r"(U?R)(\d+)")
_PREDICATE = re.compile(r"U?P(\d|T)$")
_OPERAND = re.compile(r"R(\d+)|UR\d+|c\[.*\]")
"""Registers and constants that may be the same for all threads of a warp; uniform ones and constants are."""
_WORDS = {"128": 4, "64": 2, "WIDE": 2, "F64": 2}
"""Registers of a result by the opcode's modifiers."""
_PAIRS = ("CS2R", "DFMA", "DADD", "DMUL", "DMNMX")
"""Opcodes whose result is two registers without saying so."""


def warps_in(threads: int) -> frozenset[int]:
    """Numbers of the warps that any of ``threads`` is of."""
    return frozenset(warp for warp in range(MOST_THREADS // WARP_SIZE) if threads >> warp * WARP_SIZE & FULL_WARP)


@dataclass(frozen=True)
class _Known:
    """What is known where the instructions have come to."""

    numbers: Mapping[str, Number] = field(default_factory=dict)
    """Registers that hold what follows from the thread's number."""
    limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Predicates: which threads can have it true, and false."""
    threads: int = ALL_THREADS
    """Those that come here."""
    own: frozenset[int | str] = frozenset()
    """Registers in which lanes of a warp may differ."""
    special: Mapping[str, Number] = field(default_factory=dict)
    """Special registers that are known."""

    def without(self, names: Collection[str]) -> _Known:
        """The same, when something else has been written to ``names``."""
        numbers = {name: each for name, each in self.numbers.items() if name not in names}
        limits = {name: limit for name, limit in self.limits.items() if name not in names}
        return replace(self, numbers=numbers, limits=limits)

    def met(self, other: _Known | None) -> _Known:
        """What is known where two ways meet."""
        if other is None:
            return self
        both = ((name, met(each, other.numbers[name])) for name, each in self.numbers.items() if name in other.numbers)
        return replace(
            self,
            numbers={name: number for name, number in both if number is not None},
            limits=dict(self.limits.items() & other.limits.items()),
            threads=self.threads | other.threads,
        )

    def same(self, other: _Known | None) -> bool:
        """Whether ``other`` is no more and no less, if one of them comes from the other: numbers are only forgotten."""
        if other is None or (self.threads, self.limits) != (other.threads, other.limits):
            return False
        mine, others = ({name: each.exact for name, each in known.numbers.items()} for known in (self, other))
        return mine == others

    def where(self, predicate: str) -> _Known:
        """For those who have ``predicate``, such as ``!P0``, true."""
        return replace(self, threads=self.threads & self.limit(predicate)[0])

    def limit(self, predicate: str) -> tuple[int, int]:
        """Which threads can have ``predicate`` true, and false."""
        name = predicate.removeprefix("!")
        always = (ALL_THREADS, 0) if name in ("PT", "UPT") else (ALL_THREADS, ALL_THREADS)
        true, false = self.limits.get(name, always)
        return (true, false) if name == predicate else (false, true)

    def number(self, operand: str) -> Number | None:
        """What an operand is, if it is known, or that it is the same for all threads of a warp."""
        name = operand.removeprefix("-")
        held = constant(operand) or self.special.get(operand)
        if held is None and name in self.numbers:
            held = -self.numbers[name] if operand.startswith("-") else self.numbers[name]
        if held is None and (match := _OPERAND.fullmatch(name)):
            held = ALIKE if match[1] is None or int(match[1]) not in self.own else None
        return held


def with_threads(instructions: Sequence[Instruction], block: Sequence[int] | None = None) -> list[Instruction]:
    """All ``instructions`` of a kernel: which threads come to them, and how often they pass shared memory, if known.

    ``block``: threads of a CTA in x, y and z; without it all lie in x, as long as the kernel asks for x alone.
    """
    flat = not any(name in one.text for one in instructions for name in ("SR_TID.Y", "SR_TID.Z"))
    shape = block or ((MOST_THREADS, 1, 1) if flat else None)
    begin = _Known(special={"SR_LANEID": LANE, **(places(shape) if shape else {})})
    own = own_registers(instructions)
    at: dict[int, _Known] = {}
    again = True
    while again:
        found, again = _pass(instructions, own, begin, at)
    return found


def _pass(
    instructions: Sequence[Instruction], own: Sequence[frozenset[int | str]], begin: _Known, at: dict[int, _Known]
) -> tuple[list[Instruction], bool]:
    """One way through all ``instructions``, and whether a branch back has changed what is known at its target.

    ``begin``: what is known in front of them; ``at``: by those who come to the target of a branch, less and less.
    """
    now: _Known | None = begin
    found, again = [], False
    guarded: dict[str, tuple[str, Number]] = {}
    for one, apart in zip(instructions, own, strict=True):
        target = at.get(one.address)
        if target is not None:
            guarded.clear()
        now = target if now is None else now.met(target)
        if now is None:
            # Nothing that has been seen leads here, as to code put behind the kernel, to which only a call does.
            now = begin
        now = replace(now, own=apart)
        threads = None if now.threads == ALL_THREADS else now.threads
        taking = now.where(one.predicate).threads if one.predicated else now.threads
        found.append(
            replace(
                one,
                threads=threads,
                taking=None if taking == now.threads else taking,
                wavefronts=passes(one, now.number, taking),
                announced=_announced(one, now, guarded),
                places=places_of(one, now.number, taking),
                stride=stride_of(one, now.number),
            )
        )
        operands = [operand.removesuffix(".reuse") for operand in one.operands]
        if one.root in ("BRA", "EXIT", "RET"):
            condition = operands[0] if one.root == "BRA" and len(operands) > 1 else one.predicate
            taken, left = (now.where(condition), now.where(_inverted(condition))) if condition else (now, None)
            if one.root == "BRA" and one.numbers and one.numbers[-1] != one.address:
                goal = one.numbers[-1]
                known = taken.met(at.get(goal))
                again |= goal <= one.address and not known.same(at.get(goal))
                at[goal] = known
            now = left
            guarded.clear()
        else:
            _note_guarded(guarded, one, operands, now)
            now = _after(one, operands, now)
    return found, again


def _note_guarded(
    guarded: dict[str, tuple[str, Number]], one: Instruction, operands: Sequence[str], now: _Known
) -> None:
    """Keep in ``guarded`` what registers hold for those who have a predicate, by register with that predicate."""
    results = list(_results(one, operands))
    for name in [name for name, (predicate, _) in guarded.items() if {name, predicate.lstrip("!")} & set(results)]:
        del guarded[name]
    if one.predicate and len(results) == 1 and (number := computed(one, operands, now.number)) is not None:
        guarded[results[0]] = one.predicate, number


def _announced(one: Instruction, now: _Known, guarded: Mapping[str, tuple[str, Number]]) -> int | None:
    """Bytes in the last operand of an arrival; of a predicated one, what those who arrive have put there."""
    if one.root != "SYNCS" or "ARRIVE" not in one.opcode:
        return None
    predicate, number = guarded.get(one.operands[-1], ("", None))
    if not predicate or predicate != one.predicate:
        number = now.number(one.operands[-1])
    known = number is not None and number.exact and (number.by_thread == number.by_thread[0]).all()
    return int(number.by_thread[0]) or None if known else None


def _after(one: Instruction, operands: Sequence[str], now: _Known) -> _Known:
    """What is known behind an instruction."""
    results = list(_results(one, operands))
    behind = now.without(results)
    if not results or (one.predicate and _PREDICATE.match(results[0])):
        return behind
    if _PREDICATE.match(results[0]) and one.root != "SHFL":
        limit = _limit(one, operands, now)
        return behind if limit is None else replace(behind, limits={**behind.limits, results[0]: limit})
    number = computed(one, operands, now.number)
    if one.predicate:
        # As where two ways meet, but that each lane goes its own.
        before = now.number(results[0] if ".WIDE" in one.opcode else results[-1])
        number = None if number is None or before is None else met(number, before)
        if number is not None and not number.exact and one.predicate.removeprefix("!") in now.own:
            number = None
    # Of an address in two registers it is the lower one, which comes first.
    where = results[:1] if ".WIDE" in one.opcode else results
    return behind if number is None else replace(behind, numbers=behind.numbers | dict.fromkeys(where, number))


def _limit(one: Instruction, operands: Sequence[str], now: _Known) -> tuple[int, int] | None:
    """Which threads can have the predicate true and false that an instruction sets."""
    if one.root == "ELECT":
        return _mask(FIRST_LANES), _mask(~FIRST_LANES)
    if one.root in ("PLOP3", "UPLOP3"):
        return _looked_up(operands, now)
    if one.root in ("LOP3", "ULOP3") and len(operands) > 5 and operands[5].startswith("0x"):
        known = [now.number(operand) for operand in operands[2:5]]
        bits = None if any(each is None for each in known) else logic(known, int(operands[5], 16))
        return (_mask(bits.by_thread != 0), _mask(bits.by_thread == 0)) if bits is not None and bits.exact else None
    if one.root in ("ISETP", "UISETP") and len(operands) == 5:
        return _compared(one, operands, now)
    return None


def _compared(one: Instruction, operands: Sequence[str], now: _Known) -> tuple[int, int]:
    """The same of a comparison, with another predicate beside it."""
    words = one.opcode.split(".")
    holds = compared(one, now.number(operands[2]), now.number(operands[3]))
    true, false = (ALL_THREADS, ALL_THREADS) if holds is None else (_mask(holds), _mask(~holds))
    beside = now.limit(operands[4])
    if "OR" in words:
        return true | beside[0], false & beside[1]
    return (true & beside[0], false | beside[1]) if "AND" in words else (ALL_THREADS, ALL_THREADS)


def _looked_up(operands: Sequence[str], now: _Known) -> tuple[int, int] | None:
    """The same of what a table makes of three predicates."""
    if len(operands) < 6 or not operands[5].startswith("0x"):
        return None
    table, limits = int(operands[5], 16), [now.limit(name) for name in operands[2:5]]
    found = [0, 0]
    for at, values in enumerate(product((0, 1), repeat=3)):
        threads = ALL_THREADS
        for limit, value in zip(limits, values, strict=True):
            threads &= limit[not value]
        found[not table >> at & 1] |= threads
    return found[0], found[1]


def _mask(flags: np.ndarray) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _results(one: Instruction, operands: Sequence[str]) -> Iterator[str]:
    """Registers and predicates that an instruction writes, or perhaps: its first operands."""
    root, *modifiers = one.opcode.split(".")
    # Sources of these are predicates as well.
    if root in ("VOTE", "VOTEU"):
        operands = operands[:-1]
    elif root in ("PLOP3", "UPLOP3"):
        operands = operands[:2]
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
