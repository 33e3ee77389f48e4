"""Blocks of a loop that a branch jumps over."""

from __future__ import annotations

from gpusim.program.sass import Instruction, parts, steps_of, with_blocks, with_threads


def told(*lines: str) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Words of the steps of each part, and the numbers of the lines with the branches that jump over them."""
    listing = with_threads([Instruction.of(line, 16 * number) for number, line in enumerate(lines)])
    found = with_blocks(parts(listing))
    return {
        part.name: [(step.word, tuple(at // 16 for at in step.jumped_over)) for step in steps_of(part, found)]
        for part in found
    }


SUM = (
    "FADD R4, R4, R5",
    "@P0 BRA 0x50",
    "SHFL.BFLY PT, R6, R4, 0x1, 0x1f",
    "FADD R4, R4, R6",
    "STG.E desc[UR4][R2.64], R4",
    "IADD3 R2, R2, 0x4, RZ",
    "@P1 BRA 0x0",
    "EXIT",
)


def test_what_a_branch_jumps_over_are_steps_of_their_own():
    """The sum at the end of an item; what stands before and behind it runs in each turn."""
    assert told(*SUM)["loop 1"] == [("compute", ()), ("compute", (1,)), ("store", (1,)), ("compute", ())]


def test_a_uniform_condition_is_one_too():
    """It stands behind the opcode."""
    assert told(SUM[0], "BRA !UP0, 0x50", *SUM[2:])["loop 1"][1] == ("compute", (1,))


def test_outside_of_loops_the_rest_of_an_unrolled_one_is_jumped_over():
    """The same branch in code that runs once."""
    assert told(*SUM[:6], "EXIT")["whole"] == [("compute", ()), ("compute", (1,)), ("store", (1,)), ("compute", ())]


def test_a_loop_that_may_have_no_turn_is_no_block():
    """Nor is the code around it, which a branch jumps over only then."""
    around = ("@P2 BRA 0xc0", "LDG.E R8, desc[UR4][R2.64]", "@P3 BRA 0xb0", "IADD3 R2, R2, 0x4, RZ")
    listing = (*around, *(line.replace("0x50", "0x90").replace("0x0", "0x40") for line in SUM[:7]), "NOP", "EXIT")
    assert {over for _, over in told(*listing)["outside loops"]} == {()}


def test_a_few_instructions_of_arithmetic_are_no_block():
    """The compiler might have predicated them; a dozen it would not."""
    few = ("FADD R6, R6, R7",) * 3
    assert told(*SUM[:2], *few, *SUM[5:])["loop 1"] == [("compute", ())]
    many = told(SUM[0], "@P0 BRA 0xe0", *few * 4, *SUM[5:])["loop 1"]
    assert many == [("compute", ()), ("compute", (1,)), ("compute", ())]


def test_a_branch_out_of_the_loop_jumps_over_nothing():
    """Who takes it has no further turn."""
    assert told(SUM[0], "@P0 BRA 0x70", *SUM[2:])["loop 1"] == [("compute", ()), ("store", ()), ("compute", ())]


def test_what_others_jump_into_is_no_block():
    """They execute the end of it, whatever the first branch does."""
    into = ("@P2 BRA 0x50", *SUM[:1], "@P0 BRA 0x70", *SUM[2:6], "@P1 BRA 0x0", "EXIT")
    assert {over for _, over in told(*into)["loop 1"]} == {(), (0,)}
    assert all(over == () for word, over in told(*into)["loop 1"] if word == "store")


def test_what_one_warp_executes_is_no_block():
    """Thread 0: the branch that keeps the others from it says so already; one inside it may be for some turns."""
    asks = (
        "S2R R0, SR_TID.X",
        "ISETP.NE.AND P0, PT, R0, RZ, PT",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "@P0 BRA 0x80",
        "@P1 BRA 0x70",
        "UBLKCP.S.G [UR4], [UR6], UR8",
        "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R4+URZ], RZ",
        "STG.E desc[UR4][R2.64], R4",
        "@P2 BRA 0x20",
        "EXIT",
    )
    found = told(*asks)["loop 1"]
    assert [word for word, over in found if over] == ["tma_load", "release, producer_commit or arrive"]


def test_a_loop_inside_is_jumped_over_with_its_block():
    """Blocks inside blocks, and a loop in the inner one: outermost first."""
    found = told(
        "@P0 BRA 0x60",
        "LDS R4, [R1]",
        "@P1 BRA 0x60",
        "LDS R5, [R1]",
        "STG.E desc[UR4][R2.64], R4",
        "@P2 BRA 0x40",
        "IADD3 R2, R2, 0x4, RZ",
        "@P3 BRA 0x0",
        "EXIT",
    )
    assert found["loop 1"][-2:] == [("loop 1.1", (0, 2)), ("compute", ())]
    assert found["loop 1.1"] == [("store", (0, 2)), ("compute", (0, 2))]
