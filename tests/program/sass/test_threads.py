"""Code that a branch keeps all but the first threads of a CTA from."""

from __future__ import annotations

import pytest

from gpusim.program import sass


def limits(*lines):
    """For each line how many threads come to it, None for all."""
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate(lines))
    return [one.threads for one in sass.with_threads(sass.parse(listing))]


@pytest.mark.parametrize(
    ("compared", "jumps", "threads"),
    [
        ("ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0", 1),  # threadIdx.x == 0
        ("ISETP.EQ.U32.AND P0, PT, R0, RZ, PT", "@!P0", 1),
        ("ISETP.GT.U32.AND P0, PT, R0, 0x1f, PT", "@P0", 32),  # threadIdx.x < 32
        ("ISETP.GE.AND P0, PT, R0, 0x40, PT", "@P0", 64),
        ("ISETP.LT.AND P0, PT, R0, 0x2, PT", "@!P0", 2),
        ("ISETP.NE.AND P0, PT, R0, RZ, PT", "@!P0", None),  # all but the first
        ("ISETP.NE.AND P0, PT, R0, 0x5, PT", "@P0", None),  # one in the middle
        ("ISETP.NE.AND P0, PT, R9, RZ, PT", "@P0", None),  # something else
        ("ISETP.NE.OR P0, PT, R0, RZ, P3", "@P0", 1),  # and another condition, which may be anything
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
    assert found == [None, None, None, None, None, 32, None]


def test_a_register_that_is_written_again_is_forgotten():
    """In a loop, too, from its second turn on."""
    compare, jump = "ISETP.NE.AND P0, PT, R0, RZ, PT", "@P0 BRA 0x40"
    once = limits("S2R R0, SR_TID.X", "MOV R0, R7", compare, jump, "EXIT")
    assert once == [None] * 5
    looped = ["S2R R0, SR_TID.X", compare, "@P0 BRA 0x40", "NOP", "MOV R0, R7", "@P1 BRA 0x10", "EXIT"]
    assert limits(*looped) == [None] * 7
    looped[4] = "MOV R1, R7"
    assert limits(*looped) == [None, None, None, 1, None, None, None]


def test_two_conditions_in_a_table():
    """P2 is P0 or P1, of which P0 is true for all but thread 0: who does not jump is thread 0."""
    found = limits(
        "S2R R0, SR_TID.X", "ISETP.NE.AND P0, PT, R0, RZ, PT", "PLOP3.LUT P2, PT, P0, P1, PT, 0xa8, 0x0",
        "@P2 BRA 0x50", "NOP", "EXIT",
    )  # fmt: skip
    assert found == [None, None, None, None, 1, None]


def test_who_has_left():
    """Only 16 threads are left behind an exit of the others."""
    found = limits("S2R R0, SR_TID.X", "ISETP.GT.U32.AND P0, PT, R0, 0xf, PT", "@P0 EXIT", "NOP", "EXIT")
    assert found == [None, None, None, 16, 16]
