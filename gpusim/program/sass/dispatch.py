"""Cycles in which a scheduler can issue nothing although a warp is ready, from the instructions of a loop.

Two things hold up the next instruction (realkernels.microbench operands, issue, steps):

- **Register banks.** Even and odd registers lie in two banks, and each gives one operand of a warp a cycle. An
  instruction's operands may come up to `_WINDOW` cycles late; what needs more of one bank holds up the instructions
  behind it. A register marked ``.reuse`` is kept for the next instruction that reads the same place from the same bank.
- **Half-rate pipes.** Integer arithmetic, multiplication, FP64 and conversions between halves and floats have 16 lanes:
  a pipe that has taken an instruction takes none in the next cycle. Warps that run the same instructions in step all
  want the same pipe, so that a scheduler which has enough of them waits as if one warp issued without any latency.
  Those in other code can issue meanwhile (short_ctas), as far as the fullest pipe has time for them.

Variable-latency instructions (memory, MUFU, constants) have queues of their own and hold up nobody here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpusim.program.mix import HALF_RATE
from gpusim.program.sass.families import FP32
from gpusim.program.sass.listing import Instruction

__all__ = ["Stalls", "dispatch_stalls"]

_BANKS, _WINDOW = 2, 2
_SLACK = 0.5
"""Cycles that a pipe of half rate may be late before it holds up what stands behind, as warps take turns (`steps`)."""
_TURNS = 8
"""Turns of the loop that are run through; the last half of them is looked at."""
_REGISTER = re.compile(r"[-|~!]*R(\d+)(\.reuse)?")
_FULL_RATE = (*FP32, "HFMA2")
_PIPES = {
    "integer": (
        "IADD3", "LOP3", "SHF", "ISETP", "SEL", "FSEL", "FSETP", "FMNMX", "IMNMX", "VIMNMX", "VIADDMNMX", "PRMT", "LEA",
        "I2FP", "IABS", "VOTE", "SGXT", "BMSK", "PLOP3",
    ),
    "multiplication": ("IMAD", "IDP", "VIADD"),
    "FP64": ("DFMA", "DADD", "DMUL", "DSETP"),
    "halves": ("HADD2",),
}  # fmt: skip
_PIPE = {opcode: pipe for pipe, opcodes in _PIPES.items() for opcode in opcodes}


@dataclass(frozen=True)
class Stalls:
    """Cycles lost in one turn of a loop: to ``register_conflicts``, and beyond that to pipes that are still busy.

    ``half_rate``: instructions that the fullest pipe of half rate takes.
    """

    register_conflicts: float
    pipe_stalls: float
    half_rate: int


@dataclass(frozen=True)
class _Issued:
    """``fetched``: registers that each bank has to give; ``pipe``: which one of half rate takes it."""

    fetched: tuple[int, ...]
    pipe: str | None


def dispatch_stalls(instructions: Sequence[Instruction]) -> Stalls:
    """What one warp loses in one turn of the loop that ``instructions`` are, in order of address; elsewhere once."""
    listed = _fetches(instructions)
    conflicts = _cycles(listed, pipes=False) - len(listed)
    waits = _cycles(listed, pipes=True) - len(listed) - conflicts
    fullest = max(sum(one.pipe == pipe for one in listed) for pipe in _PIPES)
    return Stalls(conflicts, waits, fullest)


def _fetches(instructions: Sequence[Instruction]) -> list[_Issued]:
    """What each instruction of a turn fetches, in the second turn: some registers are kept from the first."""
    kept: dict[tuple[int, int], str] = {}
    found: list[_Issued] = []
    for _ in range(2):
        found = []
        for instruction in instructions:
            pipe = _PIPE.get(instruction.root)
            fetched: list[set[str]] = [set() for _ in range(_BANKS)]
            if pipe or instruction.root in _FULL_RATE:
                for place, operand in enumerate(_operands(instruction)):
                    match = _REGISTER.match(operand)
                    if match is None:
                        continue
                    bank = int(match[1]) % _BANKS
                    if kept.get((place, bank)) != match[1]:
                        fetched[bank].add(match[1])
                    if match[2]:
                        kept[place, bank] = match[1]
                    else:
                        kept.pop((place, bank), None)
            found.append(_Issued(tuple(map(len, fetched)), pipe))
    return found


def _operands(instruction: Instruction) -> list[str]:
    words = instruction.text.split(maxsplit=2 if instruction.text.startswith("@") else 1)
    return [operand.strip() for operand in words[-1].split(",")[1:]]


def _cycles(listed: Sequence[_Issued], pipes: bool) -> float:
    """Cycles that one turn takes, once the pipes and banks are as they stay."""
    free, busy, now, ends = [0.0] * _BANKS, dict.fromkeys(_PIPES, 0.0), 0.0, []
    for _ in range(_TURNS):
        for one in listed:
            now += 1
            if pipes and one.pipe:
                starts = max(now, busy[one.pipe])
                now = max(now, starts - _SLACK)
                busy[one.pipe] = starts + HALF_RATE
            for bank, count in enumerate(one.fetched):
                if count:
                    read = max(free[bank], now) + count
                    now = max(now, read - _WINDOW)
                    free[bank] = read
        ends.append(now)
    half = _TURNS // 2
    return (ends[-1] - ends[half - 1]) / (_TURNS - half)
