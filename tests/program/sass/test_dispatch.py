"""Cycles that operands and half-rate pipes cost, from machine code."""

from __future__ import annotations

import pytest

from gpusim.program.sass import Instruction, dispatch_stalls
from tests.bench_rows import rows

OFF, MEAN_OFF = 0.1, 0.03
"""Of the loops of the bench `operands`: largest and mean relative error."""
FILLED = 4
"""Warps of a scheduler that do not wait for their own results."""
HALVES_OFF, HALVES_MEAN_OFF = 0.11, 0.04
"""The same of the bench `halves`: IADD3 beside HFMA2.MMA takes a tenth longer than any pipe says."""
WIDE_OFF, WIDE_MEAN_OFF = 0.25, 0.1
"""The same of the bench `multiply`: FFMAs beside any product get through 12 to 24 % slower than pipes say."""


def stalls(*lines: str) -> tuple[float, float]:
    """Of a loop of these instructions."""
    found = dispatch_stalls([Instruction.of(line) for line in lines])
    return found.register_conflicts, found.pipe_stalls


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("FFMA R0, R0, R1, R3",), 1),  # two of the odd bank, every turn
        (("FFMA R0, R0, R2, R4",), 2),
        (("FFMA R0, R0, R1, R3", "FFMA R2, R2, R4, R1"), 1),  # three of each bank in two instructions
        (("FFMA R0, R0, R1.reuse, R3", "FFMA R2, R4, R1, R5"), 1),
        (("FFMA R0, R0, R1.reuse, R3", "FFMA R2, R4, R1, R6"), 1),
        (("FADD R0, R2, R1", "FADD R3, R3, R4"), 0),
        (("LDS R0, [R2]", "MUFU.EX2 R4, R6"), 0),
        (("FFMA R0, R0, 0.5, R0",), 0),  # one register, read once
    ],
)
def test_a_bank_gives_one_register_a_cycle(lines, expected):
    """What a turn needs of the fuller bank beyond a cycle for each instruction, the next turn no sooner."""
    assert stalls(*lines) == (expected, 0)


def test_a_register_in_use_is_kept_in_its_place():
    """For the next instruction that reads the place, from the same bank, and for no longer."""
    kept = "FFMA R0, R1.reuse, R3, R5", "FFMA R2, R1, R4, R6"
    assert stalls(*kept) == (1, 0)
    assert stalls("FFMA R0, R1, R3, R5", "FFMA R2, R1, R4, R6") == (2, 0)
    assert stalls("FFMA R0, R1.reuse, R3, R5", "FFMA R2, R7, R4, R6", "FFMA R8, R1, R4, R6") == (2, 0)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("LOP3.LUT R0, R0, R1, RZ, 0xc0, !PT",), 1),
        (("VIADDMNMX R0, R0, R1, RZ, !PT", "LOP3.LUT R0, R0, R1, RZ, 0xc0, !PT"), 2),
        (("VIADDMNMX R0, R0, R1, RZ, !PT", "VIADD R4, R4, R1"), 0),
        (("LOP3.LUT R0, R0, R1, RZ, 0xc0, !PT", "FADD R2, R2, R3"), 0),
        (("LOP3.LUT R0, R0, R1, RZ, 0xc0, !PT", "IMAD R2, R3, R4, RZ"), 0),
        (("DADD R0, R0, R3", "DADD R4, R4, R7"), 2),
        (("HFMA2 R0, R2, R3, RZ", "HADD2 R4, R6, R7"), 2),
        (("VABSDIFF4.U8.ACC R0, R2, R3, R0", "IADD3 R4, R5, R6, RZ"), 2),
        (("HFMA2 R0, R2, R3, RZ", "HFMA2.MMA R4, R6, R7, RZ"), 0),
        (("HFMA2 R0, R2, R3, RZ", "IMAD R4, R6, R7, RZ"), 2),
        (("HFMA2 R0, R2, R3, RZ", "FADD R4, R6, R7"), 2),
        (("@P0 ISETP.GE.AND P0, PT, R0, R1, PT", "@!P0 BRA 0x0"), 0),
    ],
)
def test_a_pipe_of_half_rate_takes_one_instruction_in_two_cycles(lines, expected):
    """One right behind another of its kind waits a cycle, others do not."""
    assert stalls(*lines) == (0, expected)


def test_the_fullest_pipe_is_told():
    """Of two integer instructions and three multiplications."""
    loop = ["IADD3 R0, R2, R1, RZ", "IMAD R4, R3, R4, RZ", "VIADD R5, R6, 0x1"]
    found = dispatch_stalls([Instruction.of(line) for line in [*loop, *loop[:2], "FADD R6, R7, R8"]])
    assert found.half_rate == 3


def test_loops_of_the_bench_take_as_long_as_counted():
    """32 loops of the compiler's making, filled schedulers; only how long an operand may wait was told from them."""
    recorded = rows("operands")
    turns = {(row["kind"], row["seed"]): row["sass_turn"] for row in recorded if row["sass_turn"]}
    off = []
    for row in recorded:
        if row["warps_per_scheduler"] == FILLED:
            turn = turns[row["kind"], row["seed"]]
            counted = len(turn) + sum(stalls(*turn))
            off.append(counted / (row["cycles_per_turn"] / FILLED) - 1.0)
            assert abs(off[-1]) <= OFF, (row["kind"], row["seed"])
    assert len(off) > 30
    assert sum(map(abs, off)) / len(off) <= MEAN_OFF


def test_halves_share_pipes_as_measured():
    """28 loops of halves beside halves, floats and integers, recorded on an H100, whose SM is that of an H200."""
    recorded = rows("halves", device="h100_sxm")
    turns = {tuple(row["kinds"]): row["sass_turn"] for row in recorded if row["sass_turn"]}
    off = []
    for row in recorded:
        if row["warps_per_scheduler"] == 2 * FILLED:
            turn = turns[tuple(row["kinds"])]
            off.append((len(turn) + sum(stalls(*turn))) / (row["cycles_per_turn"] / (2 * FILLED)) - 1.0)
            assert abs(off[-1]) <= HALVES_OFF, row["kinds"]
    assert len(off) == 28
    assert sum(map(abs, off)) / len(off) <= HALVES_MEAN_OFF


def test_floats_count_where_halves_take_both_of_their_pipes():
    """Two instructions of halves and four of floats: 2 + 4 / 2; floats alone wait for no pipe."""
    floats = ["FADD R6, R7, R8"] * 4
    both = ["HFMA2 R0, R0, R3, R4"] * 2 + floats
    assert dispatch_stalls([Instruction.of(line) for line in both]).half_rate == 4
    assert dispatch_stalls([Instruction.of(line) for line in floats]).half_rate == 0


def test_wide_products_keep_their_pipe_busy_for_twice_as_long():
    """Lower halves, upper halves and all 64 bits of products, alone and before one to four FFMAs.

    Recorded on an H100 with the machine code, and on an H200 without, which is as quick.
    """
    recorded = rows("multiply", device="h100_sxm")
    turns = {(row["op"], row["beside"]): row["sass_turn"] for row in recorded if row["sass_turn"]}
    off = []
    for row in recorded:
        if row["warps_per_scheduler"] == 2 * FILLED:
            turn = turns[row["op"], row["beside"]]
            off.append((len(turn) + sum(stalls(*turn))) / (64 * row["cycles"]) - 1.0)
            assert abs(off[-1]) <= WIDE_OFF, (row["op"], row["beside"])
    assert len(off) == 12
    assert sum(map(abs, off)) / len(off) <= WIDE_MEAN_OFF
    for row, same in zip(recorded, rows("multiply"), strict=True):
        assert row["cycles"] == pytest.approx(same["cycles"], rel=0.01)
    assert dispatch_stalls([Instruction.of("IMAD.WIDE R4, R3, R5, R6")]).half_rate == 2
