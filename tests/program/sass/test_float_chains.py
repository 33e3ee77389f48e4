"""How many FP32 instructions are under way at once, from machine code."""

from __future__ import annotations

import pytest

from gpusim.program.sass import Instruction
from gpusim.program.sass.float_chains import LATENCY, float_chains

OTHER = "IADD3 R30, R31, R32, RZ"


def found(*lines: str, loop: bool = True) -> float | None:
    """Of these instructions."""
    return float_chains([Instruction.of(line) for line in lines], loop=loop)


@pytest.mark.parametrize("sums", [1, 2, 3, 4, 8, 16])
def test_sums_are_chains(sums):
    """Each goes on from turn to turn; up to the latency the warp waits, beyond it the longest chain tells."""
    lines = [f"FFMA R{number}, R20, R21, R{number}" for number in range(sums)]
    assert found(*lines) == pytest.approx(sums)


def test_order_counts():
    """Four sums of four steps are four chains side by side, and little more than one after the other."""
    side_by_side = [f"FADD R{number}, R{number}, R20" for _ in range(4) for number in range(4)]
    in_turn = [f"FADD R{number}, R{number}, R20" for number in range(4) for _ in range(4)]
    assert found(*side_by_side) == 4.0
    assert 1.0 < found(*in_turn) < 1.4


def test_what_stands_between_hides_the_wait():
    """Instructions of other kinds take their own slots, and the chain gets on meanwhile."""
    assert found("FFMA R0, R20, R21, R0", OTHER, OTHER, OTHER) == LATENCY
    assert found("FFMA R0, R20, R21, R0", OTHER) == pytest.approx(4 / 3)


def test_code_that_runs_once_has_no_turn_before():
    """What it begins with waits for nothing."""
    lines = [f"FFMA R{number}, R20, R21, R{number}" for number in range(2)]
    assert found(*lines, loop=False) == LATENCY


def test_a_new_value_ends_a_chain():
    """A load brings it, or a constant; a comparison and a selection pass on what they have."""
    assert found("LDS R0, [R9]", *["FMUL R1, R0, R2", "FADD R3, R1, R4"], loop=False) == pytest.approx(8 / 5)
    assert found("MOV R0, 0x3f800000", *[f"FADD R{n}, R0, R20" for n in range(1, 9)], *["FADD R0, R8, R7"]) >= 2
    through = found("FADD R0, R0, R2", "FMNMX R0, R0, R3, !PT")
    assert through == pytest.approx(4 / 3)


def test_shuffles_and_predicates_name_their_result_second():
    """As in a reduction over the warp: each step needs the one before."""
    step = ("SHFL.BFLY PT, R1, R0, 0x1, 0x1f", "FADD R0, R0, R1")
    assert found(*step) == pytest.approx(4 / 3)
    assert found("FSETP.GT.AND P0, PT, R0, R1, PT", "@P0 FADD R0, R0, R1") == pytest.approx(4 / 3)


def test_without_floats_there_is_nothing_to_say():
    """Integers have words of their own."""
    assert found(OTHER) is None
