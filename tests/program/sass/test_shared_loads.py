"""How far ahead of their use loads from shared memory are, from machine code."""

from __future__ import annotations

import pytest

from gpusim.program.sass import Instruction, SharedLoads, loads_ahead
from gpusim.program.sass.shared_loads import LATENCY

FFMA = "FFMA R20, R21, R22, R20"


def found(*lines: str, loop: bool = True) -> SharedLoads | None:
    """Of these instructions."""
    return loads_ahead([Instruction.of(line) for line in lines], loop=loop)


def test_a_use_right_behind_its_load_waits_for_all_of_it():
    """Each load for itself, or four of which the first is needed."""
    assert found("LDS R0, [R9]", "FFMA R1, R0, R2, R1") == SharedLoads(1.0, 0.0)
    loads = [f"LDS R{number}, [R9+{4 * number}]" for number in range(4)]
    uses = [f"FFMA R8, R{number}, R10, R8" for number in range(4)]
    assert found(*loads, *uses) == SharedLoads(4.0, 0.0)


@pytest.mark.parametrize("between", [1, 8, LATENCY - 1])
def test_what_stands_between_is_counted(between):
    """Instructions that do not need what is loaded."""
    assert found("LDS R0, [R9]", *[FFMA] * between, "FFMA R1, R0, R2, R1") == SharedLoads(1.0, between)


def test_who_never_waits_has_all_loads_in_flight():
    """As far ahead as shared memory takes."""
    assert found("LDS R0, [R9]", *[FFMA] * LATENCY, "FFMA R1, R0, R2, R1") == SharedLoads(1.0, LATENCY)


def test_a_turn_uses_what_the_one_before_has_loaded():
    """Software pipelining: the use stands in front of the load; in code that runs once it would need nothing."""
    lines = ("FFMA R1, R0, R2, R1", *[FFMA] * 3, "LDS R0, [R9]", *[FFMA] * 10)
    assert found(*lines) == SharedLoads(1.0, 10.0)
    assert found(*lines, loop=False) == SharedLoads(1.0, LATENCY)


def test_what_is_behind_may_use_a_load():
    """Loads that stand there are others', and take no slot."""
    load, use = Instruction.of("LDS R0, [R9]"), Instruction.of("FFMA R1, R0, R2, R1")
    other, fill = Instruction.of("LDS R3, [R9]"), Instruction.of(FFMA)
    assert loads_ahead([load, fill], loop=False, behind=[other, fill, use]) == SharedLoads(1.0, 2.0)
    assert loads_ahead([load], loop=False, behind=[other, fill]) == SharedLoads(1.0, LATENCY)


def test_wide_loads_bring_several_registers():
    """The last of four is needed; stores and addresses read registers, too."""
    assert found("LDS.128 R4, [R9]", FFMA, "FFMA R1, R7, R2, R1") == SharedLoads(1.0, 1.0)
    assert found("LDS.64 R4, [R9]", FFMA, "STG.E.64 [R12.64], R4") == SharedLoads(1.0, 1.0)
    assert found("LDS R4, [R9]", FFMA, "LDS R6, [R4]") == SharedLoads(2.0, 1.0)


def test_without_loads_there_is_nothing_to_say():
    """Arithmetic alone."""
    assert found(FFMA, FFMA) is None


SIDE_BY_SIDE = (
    "SHFL.BFLY PT, R2, R0, 0x1, 0x1f",
    "SHFL.BFLY PT, R3, R1, 0x1, 0x1f",
    "FADD R0, R0, R2",
    "FADD R1, R1, R3",
)


def test_shuffles_alone_are_the_loads():
    """Of two sums side by side two are under way, of one sum one."""
    assert found(*SIDE_BY_SIDE * 5, loop=False) == SharedLoads(2.0, 0.0)
    assert found(*SIDE_BY_SIDE[::2] * 5, loop=False) == SharedLoads(1.0, 0.0)


def test_beside_loads_shuffles_are_none():
    """What is known is of the loads."""
    assert found("LDS R8, [R9]", *SIDE_BY_SIDE, "FADD R0, R0, R8", loop=False) == SharedLoads(1.0, 4.0)
