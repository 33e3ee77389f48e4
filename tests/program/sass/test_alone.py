"""How long one warp alone needs for its instructions, from machine code."""

from __future__ import annotations

import pytest

from gpusim.program.sass import Instruction, cycles_alone, gaps_alone
from gpusim.program.sass.alone import short_gaps

FADD = "FADD R6, R7, R8", 1
EXP = "MUFU.EX2 R4, R5", 1
USE = "FMUL R9, R4, R4", 1


def cycles(*lines: tuple[str, int | None], loop: bool = False, behind: tuple[tuple[str, int], ...] = ()) -> int:
    """Of instructions with their stall counts."""
    body, later = ([Instruction.of(text, stall=stall) for text, stall in part] for part in (lines, behind))
    return cycles_alone(body, loop=loop, behind=later)


def test_stall_counts_add_up():
    """One issues at least a cycle behind the other; a branch that is taken takes four more."""
    assert cycles(FADD, ("IADD3 R0, R1, R2, RZ", 5), ("STS [R0], R6", 0)) == 7
    assert cycles(FADD, ("@P0 BRA 0x0", 5), loop=True) == 10
    assert cycles(FADD, ("@P0 BRA 0x0", 5), FADD) == 7
    assert cycles() == 0


def test_without_stall_counts_nobody_knows():
    """As in a listing without machine code."""
    assert cycles(FADD, ("FADD R0, R1, R2", None)) == 0


@pytest.mark.parametrize(("between", "expected"), [(0, 18), (8, 18), (16, 18), (20, 22)])
def test_a_result_of_mufu_is_there_after_17_cycles(between, expected):
    """What stands between is done meanwhile."""
    assert cycles(EXP, *[FADD] * between, USE) == expected


def test_mufu_takes_one_in_eight_cycles():
    """The third result is there 16 cycles after the first."""
    several = [(f"MUFU.EX2 R{number}, R20", 1) for number in (2, 3, 4)]
    assert cycles(*several, USE) == 16 + 17 + 1


def test_what_is_behind_may_wait():
    """The next turn of a loop, or another step of it."""
    assert cycles(USE, EXP, *[FADD] * 3, loop=True) == 18
    assert cycles(EXP, behind=(FADD, USE)) == 1 + 15
    assert cycles(EXP, behind=(FADD,) * 20) == 1


def test_gaps_are_the_cycles_of_each_instruction():
    """The wait for MUFU stands behind what is before its use; in a loop the last one has the wait of the first."""
    body = [Instruction.of(text, stall=stall) for text, stall in (FADD, EXP, FADD, USE)]
    gaps = gaps_alone(body, loop=False)
    assert gaps == [1, 1, 16, 1]
    assert short_gaps(gaps) == (3, 0, 0, 0)
    turn = [Instruction.of(text, stall=stall) for text, stall in (USE, EXP, ("@P0 BRA 0x0", 5))]
    gaps = gaps_alone(turn, loop=True)
    assert sum(gaps) == cycles_alone(turn, loop=True)
    assert gaps == [1, 1, 16]
