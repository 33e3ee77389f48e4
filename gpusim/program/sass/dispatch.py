"""Cycles in which a scheduler can issue nothing although a warp is ready, from the instructions of a loop.

Two things hold up the next instruction (realkernels.microbench operands, halves, issue, multiply, steps):

- **Register banks.** Even and odd registers lie in two banks, and each gives one operand of a warp a cycle. An
  instruction's operands may come up to `_WINDOW` cycles late; what needs more of one bank holds up the instructions
  behind it. A register marked ``.reuse`` is kept for the next instruction that reads the same place from the same bank.
- **Half-rate pipes.** Integer arithmetic, multiplication, FP64 and halves have 16 lanes: a pipe that has taken an
  instruction takes none in the next cycle. FP32 has two such pipes, of which it takes either; integers are multiplied
  on one of them, twice as long if the upper half of the product is wanted (``IMAD.HI``, ``IMAD.WIDE``), and
  instructions of two halves take both at once, unless the compiler sends them where matrices are multiplied
  (``HFMA2.MMA``). Warps that run the same instructions in step all want the same pipe, so that a scheduler
  which has enough of them waits as if one warp issued without any latency. Those in other code can issue meanwhile
  (short_ctas), as far as the fullest pipe has time for them.

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
_NOTHING_FETCHED = (0,) * _BANKS
_SLACK = 0.5
"""Cycles that a pipe of half rate may be late before it holds up what stands behind, as warps take turns (`steps`)."""
_TURNS = 8
"""Turns of the loop that are run through; the last half of them is looked at."""
_REGISTER = re.compile(r"[-|~!]*R(\d+)(\.reuse)?")
_HEAVY, _LIGHT = "heavy", "light"
"""The two pipes of FP32, as the profiler calls them."""
_PIPES = ("integer", _HEAVY, _LIGHT, "FP64", "matrix")
_TAKES = {
    ("integer",): (
        "IADD3", "LOP3", "SHF", "ISETP", "SEL", "FSEL", "FSETP", "FMNMX", "IMNMX", "VIMNMX", "VIADDMNMX", "PRMT", "LEA",
        "I2FP", "IABS", "VOTE", "SGXT", "BMSK", "PLOP3", "VABSDIFF", "VABSDIFF4",
    ),
    (_HEAVY,): ("IMAD", "IDP", "VIADD"),
    ("FP64",): ("DFMA", "DADD", "DMUL", "DSETP"),
    (_HEAVY, _LIGHT): ("HFMA2", "HADD2", "HMUL2"),
}  # fmt: skip
"""Opcodes by the pipes that they take at once."""
_LONG = re.compile(r"IMAD\.(HI|WIDE)\b")
"""Opcodes that keep their pipe busy for twice as long."""
_PIPES_OF = {opcode: pipes for pipes, opcodes in _TAKES.items() for opcode in opcodes}


@dataclass(frozen=True)
class Stalls:
    """Cycles lost in one turn of a loop: to pipes that are still busy, and beyond that to ``register_conflicts``.

    A pipe of half rate has two cycles to fetch operands in, so that it hardly matters if these meet.

    ``half_rate``: instructions that the fullest pipe of half rate takes; one that keeps it busy twice as long is two.
    """

    register_conflicts: float
    pipe_stalls: float
    half_rate: float


@dataclass(frozen=True)
class _Issued:
    """``fetched``: registers that each bank has to give; ``pipes``: those of half rate that it takes at once.

    ``either``: it is FP32, which takes whichever of its two pipes is free first. ``turns``: of `HALF_RATE` cycles that
    it keeps its pipes busy.
    """

    fetched: tuple[int, ...]
    pipes: tuple[str, ...]
    either: bool
    turns: int


def dispatch_stalls(instructions: Sequence[Instruction]) -> Stalls:
    """What one warp loses in one turn of the loop that ``instructions`` are, in order of address; elsewhere once."""
    listed = _fetches(instructions)
    held = _cycles(listed, banks=False)
    return Stalls(_cycles(listed, banks=True) - held, held - len(listed), _fullest(listed))


def _fullest(listed: Sequence[_Issued]) -> float:
    """Instructions that the fullest pipe takes; those of FP32 count where halves leave them too little of both."""
    taken = {pipe: sum(one.turns for one in listed if pipe in one.pipes) for pipe in _PIPES}
    both = (sum(one.either for one in listed) + taken[_HEAVY] + taken[_LIGHT]) / 2.0
    return max(*taken.values(), both if taken[_LIGHT] else 0.0)


def _pipes_of(instruction: Instruction) -> tuple[str, ...]:
    return ("matrix",) if instruction.opcode.startswith("HFMA2.MMA") else _PIPES_OF.get(instruction.root, ())


def _fetches(instructions: Sequence[Instruction]) -> list[_Issued]:
    """What each instruction of a turn fetches, in the second turn: some registers are kept from the first."""
    kept: dict[tuple[int, int], str] = {}
    found: list[_Issued] = []
    for _ in range(2):
        found = []
        for instruction in instructions:
            pipes, either = _pipes_of(instruction), instruction.root in FP32
            fetched = _fetched_by_bank(instruction, kept) if pipes or either else _NOTHING_FETCHED
            turns = 2 if _LONG.match(instruction.opcode) else 1
            found.append(_Issued(fetched, pipes, either, turns))
    return found


def _fetched_by_bank(instruction: Instruction, kept: dict[tuple[int, int], str]) -> tuple[int, ...]:
    """How many registers an instruction reads from each bank.

    ``kept``: the register that the reuse cache holds for each operand place and bank, which need not be read; brought
    up to date by what the instruction itself marks with ``.reuse``.
    """
    fetched: list[set[str]] = [set() for _ in range(_BANKS)]
    for place, operand in enumerate(instruction.operands[1:]):
        match = _REGISTER.match(operand)
        if match is None:
            continue
        register, reused = match[1], match[2]
        bank = int(register) % _BANKS
        if kept.get((place, bank)) != register:
            fetched[bank].add(register)
        if reused:
            kept[place, bank] = register
        else:
            kept.pop((place, bank), None)
    return tuple(map(len, fetched))


def _cycles(listed: Sequence[_Issued], *, banks: bool) -> float:
    """Cycles that one turn takes, once the pipes, and with ``banks`` these, are as they stay."""
    free, busy, now, ends = [0.0] * _BANKS, dict.fromkeys(_PIPES, 0.0), 0.0, []
    for _ in range(_TURNS):
        for one in listed:
            now += 1
            if taken := (min(_LIGHT, _HEAVY, key=busy.__getitem__),) if one.either else one.pipes:
                starts = max(now, *(busy[pipe] for pipe in taken))
                now = max(now, starts - _SLACK)
                busy.update(dict.fromkeys(taken, starts + one.turns * HALF_RATE))
            for bank, count in enumerate(one.fetched):
                if banks and count:
                    read = max(free[bank], now) + count
                    now = max(now, read - _WINDOW)
                    free[bank] = read
        ends.append(now)
    half = _TURNS // 2
    return (ends[-1] - ends[half - 1]) / (_TURNS - half)
