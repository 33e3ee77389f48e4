"""Where the lanes of an access to global memory lie, by the arithmetic of their addresses."""

from __future__ import annotations

import pytest

from gpusim.program import sass

ARRAY = "IMAD.WIDE R2, R9, 0x4, R20"
"""Of floats: `R20` and `R21` are where it begins, as a parameter says."""
BEGIN = ("S2R R0, SR_TID.X", "S2R R1, SR_TID.Y", "MOV R20, c[0x0][0x210]", "MOV R21, c[0x0][0x214]")


def places(*lines: str, block=(32, 8, 1)) -> list:
    """For each access bytes in a row and how many such."""
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate((*BEGIN, *lines)))
    found = sass.with_threads(sass.parse(listing), block)
    return [one.places for one in found if one.root in ("LDG", "STG", "LDGSTS")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("MOV R9, R0",), (128, 1)),  # x[threadIdx.x]
        (("IMAD R9, R0, 0x2, RZ",), (4, 32)),
        (("SHF.R.U32.HI R9, RZ, 0x1, R0",), (64, 1)),  # two lanes each
        (("S2R R8, SR_CTAID.X", "IMAD R9, R8, c[0x0][0x0], R0"), (128, 1)),  # the CTA's own part
        (("LDG.E R9, desc[UR4][R0.64]",), None),  # an index from memory, of each lane its own
        (("LDG.E R9, desc[UR4][R20.64]",), (4, 1)),  # and one for all lanes
        (("IMAD R9, R0, c[0x0][0x218], RZ",), (4, 32)),  # rows of a length that nobody knows
        (("SHF.R.U32.HI R8, RZ, 0x3, R0", "LOP3.LUT R7, R0, 0x7, RZ, 0xc0, !PT",
          "IMAD R9, R8, c[0x0][0x218], R7"), (32, 4)),  # eight lanes in each of four such rows
        (("S2R R8, SR_CTAID.X", "LEA R8, R8, R0, 0x7", "IMAD R9, R8, c[0x0][0x218], RZ"), (4, 32)),
        (("SHF.R.U32.HI R9, RZ, 0x5, R0",), (4, 1)),  # all the same
    ],
)  # fmt: skip
def test_floats_of_an_array(lines, expected):
    """What all lanes have alike moves nothing."""
    assert places(*lines, ARRAY, "LDG.E R4, desc[UR4][R2.64]")[-1] == expected


def test_two_dimensions():
    """16 x 16 threads: two rows of a warp, each of 64 bytes."""
    lines = ("IMAD R9, R1, c[0x0][0x218], R0", ARRAY, "STG.E desc[UR4][R2.64], R4")
    assert places(*lines, block=(16, 16, 1)) == [(64, 2)]
    assert places(*lines) == [(128, 1)]
    assert places(*lines, block=None) == [None]


def test_carries_and_further_offsets():
    """An address in two registers is told by the lower one."""
    lines = (
        "IADD3 R6, P0, R0, c[0x0][0x220], RZ", "IADD3.X R7, RZ, c[0x0][0x224], RZ, P0, !PT",
        "LEA R2, P1, R6, R20, 0x4", "LEA.HI.X R3, R6, R21, R7, 0x4, P1",
    )  # fmt: skip
    assert places(*lines, "LDG.E.128 R4, desc[UR4][R2.64+0x200]") == [(512, 1)]
    assert places(*lines, "LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]") == [(512, 1)]


def test_lanes_that_take_part():
    """Three of them, side by side; bytes are bytes."""
    compare = "ISETP.GE.AND P0, PT, R0, 0x3, PT"
    assert places("MOV R9, R0", ARRAY, compare, "@!P0 LDG.E R4, desc[UR4][R2.64]") == [(12, 1)]
    assert places("IADD3 R2, P0, R0, R20, RZ", "LDG.E.U8 R4, desc[UR4][R2.64]") == [(32, 1)]


def test_warps_that_differ_are_not_told():
    """The first one wants all of its row, the others every second float."""
    lines = ("IMAD R9, R0, 0x2, RZ", "ISETP.GE.AND P0, PT, R0, 0x20, PT", "@!P0 MOV R9, R0", ARRAY)
    assert places(*lines, "LDG.E R4, desc[UR4][R2.64]", block=(256, 1, 1)) == [None]
