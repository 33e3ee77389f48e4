"""How often accesses to shared memory pass it, by the arithmetic of their addresses."""

from __future__ import annotations

import pytest

from gpusim.program import sass


def passed(*lines: str, block=None) -> list[float | None]:
    """For each access how often."""
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate(("S2R R0, SR_TID.X", *lines)))
    found = sass.with_threads(sass.parse(listing), block)
    return [one.wavefronts for one in found if one.root in ("LDS", "STS")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("LEA R1, R0, UR4, 0x2", "LDS R2, [R1]"), 1),  # s[threadIdx.x]
        (("LEA R1, R0, UR4, 0x4", "LDS R2, [R1+0xc]"), 4),  # s[4 * threadIdx.x + 3]
        (("LEA R1, R0, UR4, 0x4", "LDS.128 R4, [R1]"), 4),
        (("SHF.R.U32.HI R1, RZ, 0x1, R0", "LEA R1, R1, UR4, 0x4", "LDS.128 R4, [R1]"), 2),  # of float4, threadIdx.x / 2
        (("IMAD R1, R0, 0x80, RZ", "STS [R1+UR4], R3"), 32),  # a column of rows of 32 floats
        (("IMAD R1, R0, 0x84, RZ", "STS [R1+UR4], R3"), 1),  # padded
        (("LOP3.LUT R1, R0, 0xf, RZ, 0xc0, !PT", "IMAD.SHL.U32 R1, R1, 0x8, RZ", "LDS R2, [R1]"), 1),
        (("LEA.HI R1, R0, R0, RZ, 0x1", "LOP3.LUT R1, R1, 0xfffffffe, RZ, 0xc0, !PT", "IADD3 R1, R0, -R1, RZ",
          "IMAD R1, R1, 0x100, RZ", "LDS R2, [R1]"), 2),  # the remainder of a signed division by two
        (("IMAD.HI.U32 R1, R0, 0x55555556, RZ", "SHF.L.U32 R1, R1, 0x7, RZ", "LDS R2, [R1]"),
         pytest.approx(11.4, abs=0.3)),  # threadIdx.x / 3, in the mean of all warps
        (("LDG.E R1, desc[UR4][R2.64]", "LDS R2, [R1]"), None),  # what comes from memory
        (("S2R R1, SR_TID.Y", "IMAD R1, R0, 0x80, R1", "LDS R2, [R1]"), None),
        (("S2R R1, SR_CgaCtaId", "LEA R1, R1, R5, 0x18", "LEA R1, R0, R1, 0x3", "LDS.64 R2, [R1]"), None),
        (("S2R R1, SR_CgaCtaId", "MOV R5, 0x400", "LEA R1, R1, R5, 0x18", "LEA R1, R0, R1, 0x3", "LDS.64 R2, [R1]"), 2),
        (("LDS R2, [R0.X4+UR5]",), 1),
        (("CS2R R4, SRZ", "LEA R1, R0, R5, 0x4", "LDS R2, [R1]"), 4),
    ],
)  # fmt: skip
def test_patterns(lines, expected):
    """What is added for all lanes alike changes nothing."""
    assert passed(*lines) == [expected]


def test_a_turn_later_the_pattern_is_the_same():
    """Each turn adds something for all lanes alike."""
    lines = ["LEA R1, R0, UR4, 0x4", "LDS R2, [R1]", "IADD3 R1, R1, 0x400, RZ", "@P1 BRA 0x20", "EXIT"]
    assert passed(*lines) == [4]
    lines[2] = "IADD3 R1, R1, R9, RZ"  # which nobody knows
    assert passed(*lines) == [None]
    lines[2] = "IADD3 R1, R1, R0, RZ"  # another pattern each time
    assert passed(*lines) == [None]


def test_a_predicated_move_is_one_of_both():
    """Alike but for where the two begin, unless each lane chooses for itself."""
    lines = ["LEA R1, R0, UR4, 0x4", "@P0 IADD3 R1, R1, 0x400, RZ", "LDS R2, [R1]"]
    assert passed("ISETP.NE.AND P0, PT, RZ, c[0x0][0x210], PT", *lines) == [4]
    assert passed("ISETP.NE.AND P0, PT, R0, 0x5, PT", *lines) == [None]


def test_lanes_that_do_not_take_part_want_nothing():
    """The first of each warp, and the first three threads."""
    column = "IMAD R1, R0, 0x80, RZ"
    assert passed(column, "LOP3.LUT P0, RZ, R0, 0x1f, RZ, 0xc0, !PT", "@P0 BRA 0x50", "STS [R1], R3", "EXIT") == [1]
    assert passed(column, "ISETP.GE.AND P0, PT, R0, 0x3, PT", "@!P0 STS [R1], R3", "EXIT") == [3]


def test_threads_in_x_and_y():
    """Of 16 x 16 threads the column of the one and the row of the other, if the shape is known."""
    lines = ["S2R R2, SR_TID.Y", "IMAD R1, R0, 0x80, RZ", "LDS R4, [R1+UR4]", "LEA R1, R2, UR4, 0x7", "LDS R4, [R1]"]
    assert passed(*lines, block=(16, 16, 1)) == [16, 2]
    assert passed(*lines) == [None, None]
