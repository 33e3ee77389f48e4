"""Code that a branch keeps some of a CTA's threads from."""

from __future__ import annotations

import pytest

from gpusim.program import sass
from gpusim.program.sass import ALL_THREADS, warps_in


def limits(*lines):
    """For each line the threads that come to it, None for all."""
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate(lines))
    return [one.threads for one in sass.with_threads(sass.parse(listing))]


def between(first: int, end: int = 1024) -> int:
    """Threads from ``first`` on, those from ``end`` on not."""
    return (1 << end) - (1 << first)


FIRST_LANES = sum(1 << 32 * warp for warp in range(32))


@pytest.mark.parametrize(
    ("compared", "jumps", "threads"),
    [
        ("ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0", between(0, 1)),  # threadIdx.x == 0
        ("ISETP.EQ.U32.AND P0, PT, R0, RZ, PT", "@!P0", between(0, 1)),
        ("ISETP.GT.U32.AND P0, PT, R0, 0x1f, PT", "@P0", between(0, 32)),  # threadIdx.x < 32
        ("ISETP.GE.AND P0, PT, R0, 0x40, PT", "@P0", between(0, 64)),
        ("ISETP.LT.AND P0, PT, R0, 0x2, PT", "@!P0", between(0, 2)),
        ("ISETP.NE.AND P0, PT, R0, RZ, PT", "@!P0", between(1)),  # all but the first
        ("ISETP.NE.AND P0, PT, R0, 0x5, PT", "@P0", between(5, 6)),  # one in the middle
        ("ISETP.LE.U32.AND P0, PT, R0, 0xbf, PT", "@P0", between(192)),  # the last ones
        ("LOP3.LUT P0, RZ, R0, 0x1f, RZ, 0xc0, !PT", "@P0", FIRST_LANES),  # threadIdx.x % 32 == 0
        ("ELECT P0, URZ, PT", "@!P0", FIRST_LANES),  # elect.sync
        ("ISETP.NE.AND P0, PT, R9, RZ, PT", "@P0", None),  # something else
        ("ISETP.NE.AND P0, PT, R0, R9, PT", "@P0", None),
        ("ISETP.NE.OR P0, PT, R0, RZ, P3", "@P0", between(0, 1)),  # and another condition, which may be anything
        ("ISETP.NE.AND P0, PT, R0, RZ, P3", "@P0", None),  # or another condition
    ],
)
def test_what_a_comparison_with_the_threads_number_lets_through(compared, jumps, threads):
    """The code up to the target of the branch; behind it all are together again."""
    found = limits("S2R R0, SR_TID.X", compared, f"{jumps} BRA 0x40", "IADD3 R5, R5, 0x1, RZ", "EXIT")
    assert found == [None, None, None, threads, None]


def test_the_number_of_the_warp():
    """threadIdx.x / 32 == 0, in a uniform register, told by a uniform predicate."""
    found = limits(
        "S2R R0, SR_TID.X", "SHF.R.U32.HI R4, RZ, 0x5, R0", "R2UR UR6, R4", "UISETP.NE.AND UP0, UPT, UR6, URZ, UPT",
        "BRA.U UP0, 0x60", "NOP", "EXIT",
    )  # fmt: skip
    assert found == [None, None, None, None, None, between(0, 32), None]


@pytest.mark.parametrize(
    ("line", "threads"),
    [
        ("SHFL.IDX PT, R4, R4, RZ, 0x1f", between(64, 96)),  # from lane 0 of the same warp
        ("VIADD R4, R4, 0xffffffff", between(96, 128)),  # 32 bits that overflow
        ("VIADD R4, R4, -0x1", between(96, 128)),
        ("IMAD.SHL.U32 R4, R4, 0x2, RZ", between(32, 64)),
        ("LOP3.LUT R4, R4, 0x3, RZ, 0xc0, !PT", sum(between(64 + at, 96 + at) for at in range(0, 1024, 128))),
        ("SHF.R.U32.HI R4, RZ, 0x1, R4", between(128, 192)),
        ("IMAD R4, R4, R9, RZ", None),  # what else there is in it nobody knows
        ("MUFU.RCP R4, R4", None),
    ],
)
def test_what_is_computed_from_the_number_of_the_warp(line, threads):
    """Who has a 2 goes on."""
    found = limits(
        "S2R R0, SR_TID.X", "SHF.R.U32.HI R4, RZ, 0x5, R0", line, "ISETP.NE.U32.AND P0, PT, R4, 0x2, PT",
        "@P0 BRA 0x60", "NOP", "EXIT",
    )  # fmt: skip
    assert found[5] == threads


def test_both_sides_of_a_branch():
    """Warps 0 to 5 and the others; in the second of two branches only who is left."""
    found = limits(
        "S2R R0, SR_TID.X", "ISETP.GE.AND P0, PT, R0, 0xc0, PT", "@P0 BRA 0x50", "NOP", "EXIT",
        "ISETP.NE.AND P0, PT, R0, 0xc0, PT", "@P0 EXIT", "NOP", "EXIT",
    )  # fmt: skip
    assert found[3:6] == [between(0, 192), between(0, 192), between(192)]
    assert found[7] == between(192, 193)


def test_of_ctas_with_two_dimensions_nothing_is_told():
    """Warps are then made of rows."""
    lines = ["S2R R0, SR_TID.X", "S2R R1, SR_TID.Y", "ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0 EXIT", "NOP", "EXIT"]
    assert limits(*lines) == [None] * 6
    assert limits(lines[0], *lines[2:])[3] == between(0, 1)


def test_warps_of_threads():
    """One thread of a warp is enough."""
    assert warps_in(between(31, 64)) == {0, 1}
    assert warps_in(between(192, 193)) == {6}
    assert len(warps_in(ALL_THREADS)) == 32


def test_a_register_that_is_written_again_is_forgotten():
    """In a loop, too, from its second turn on."""
    compare, jump = "ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0 BRA 0x40"
    once = limits("S2R R0, SR_TID.X", "MOV R0, R7", compare, jump, "EXIT")
    assert once == [None] * 5
    looped = ["S2R R0, SR_TID.X", compare, "@P0 BRA 0x40", "NOP", "MOV R0, R7", "@P1 BRA 0x10", "EXIT"]
    assert limits(*looped) == [None] * 7
    looped[4] = "MOV R1, R7"
    assert limits(*looped) == [None, None, None, between(0, 1), None, None, None]


@pytest.mark.parametrize(
    ("upper", "lower", "number"),
    [("0", "-0.0", 0x8000), ("0", "2.384185791015625e-07", 4), ("1.875", "0", 0x3F800000), ("0", "QNAN", None)],
)
def test_a_constant_as_two_halves(upper, lower, number):
    """Compilers write one so to spare another pipe."""
    [_, arrival] = sass.with_threads(
        sass.parse(
            f"/*0000*/ HFMA2.MMA R4, -RZ, RZ, {upper}, {lower} ;\n/*0010*/ SYNCS.ARRIVE.TRANS64 RZ, [R8+URZ], R4 ;\n"
        )
    )
    assert arrival.announced == number


@pytest.mark.parametrize(
    ("between", "arrival", "number"),
    [
        ("NOP", "@P2", 0xC000),
        ("NOP", "@P3", None),
        ("NOP", "@!P2", None),
        ("MOV R6, R9", "@P2", None),
        ("ISETP.NE.AND P2, PT, R0, RZ, PT", "@P2", None),
        ("@P4 BRA 0x0", "@P2", None),
    ],
)
def test_a_constant_for_those_who_arrive(between, arrival, number):
    """One thread has it and announces so many bytes; what others have in that register does not matter."""
    listing = f"/*0000*/ @P2 MOV R6, 0xc000 ;\n/*0010*/ {between} ;\n"
    listing += f"/*0020*/ {arrival} SYNCS.ARRIVE.TRANS64 RZ, [R8+URZ], R6 ;\n/*0030*/ EXIT ;\n"
    assert sass.with_threads(sass.parse(listing))[2].announced == number


@pytest.mark.parametrize(
    ("line", "threads"),
    [
        ("VOTEU.ALL UP0, P0", between(0, 32)),  # reads P0
        ("VOTE.ANY R5, PT, P0", between(0, 32)),
        ("PLOP3.LUT P1, PT, P0, PT, PT, 0x80, 0x8", between(0, 32)),
        ("VOTE.ALL P0, P1", None),  # writes it
        ("PLOP3.LUT P1, P0, P2, P3, P4, 0x80, 0x8", None),
    ],
)
def test_predicates_that_an_instruction_reads_and_those_it_writes(line, threads):
    """What is known of P0 is kept until it is written again."""
    found = limits(
        "S2R R0, SR_TID.X", "ISETP.GT.U32.AND P0, PT, R0, 0x1f, PT", line, "@P0 BRA 0x50", "NOP", "EXIT"
    )  # fmt: skip
    assert found[4] == threads


def test_two_conditions_in_a_table():
    """P2 is P0 or P1, of which P0 is true for all but thread 0: who does not jump is thread 0."""
    found = limits(
        "S2R R0, SR_TID.X", "ISETP.NE.AND P0, PT, R0, RZ, PT", "PLOP3.LUT P2, PT, P0, P1, PT, 0xa8, 0x0",
        "@P2 BRA 0x50", "NOP", "EXIT",
    )  # fmt: skip
    assert found == [None, None, None, None, between(0, 1), None]


def test_who_has_left():
    """Only 16 threads are left behind an exit of the others."""
    found = limits("S2R R0, SR_TID.X", "ISETP.GT.U32.AND P0, PT, R0, 0xf, PT", "@P0 EXIT", "NOP", "EXIT")
    assert found == [None, None, None, between(0, 16), between(0, 16)]
