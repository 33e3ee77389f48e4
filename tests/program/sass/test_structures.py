"""How far the lanes of an access are apart, and which take all of a structure."""

from __future__ import annotations

import pytest

from gpusim.program import sass


def accesses(*lines):
    """(stride, whole) of every load and store of a listing."""
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate(lines))
    marked = sass.with_structures(sass.with_threads(sass.with_addresses(sass.parse(listing))))
    return [(one.stride, one.whole) for one in marked if one.root in ("LDG", "STG", "LDGSTS")]


THREAD = ("S2R R0, SR_CTAID.X", "S2R R3, SR_TID.X", "LDC.64 R8, c[0x0][0x210]", "LEA R0, R0, R3, 0x9")


@pytest.mark.parametrize(
    ("lines", "stride"),
    [
        (("IMAD.WIDE R4, R0, 0x4, R8",), 4),
        (("IMAD.WIDE R4, R0, 0x14, R8",), 20),
        (("SHF.L.U32 R1, R0, 0x2, RZ", "IMAD.WIDE R4, R1, 0x4, R8"), 16),
        (("IADD3 R1, R0, 0x100, RZ", "IMAD.WIDE.U32 R4, R1, 0x8, R8"), 8),
        (("LEA R4, P0, R0, UR6, 0x5", "LEA.HI.X R5, R0, UR7, R1, 0x5, P0"), 32),
        (("IADD3 R1, P0, R0, UR6, RZ", "LEA R4, P1, R1, UR8, 0x2"), 4),
        (("IMAD R1, R3, 0x1003, R0", "IMAD.WIDE R4, R1, 0x4, R8"), 4 * 0x1004),
        (("LOP3.LUT R1, R0, 0x7, RZ, 0xc0, !PT", "IMAD.WIDE R4, R1, 0x4, R8"), None),  # eight lanes, over and over
        (("LDG.E R1, desc[UR4][R8.64]", "IMAD.WIDE R4, R1, 0x4, R8"), None),  # an index
    ],
)
def test_the_stride_of_an_address(lines, stride):
    """The thread's number times what it is multiplied by; what all lanes have alike does not matter."""
    assert accesses(*THREAD, *lines, "LDG.E R6, desc[UR4][R4.64]")[-1][0] == stride


def test_the_stride_of_a_copy():
    """Where it fetches, not where it puts that."""
    lines = ("IMAD.WIDE R4, R0, 0x800, R8", "LDGSTS.E.128 [R3+0x80], desc[UR4][R4.64]")
    assert accesses(*THREAD, *lines) == [(2048, False)]


def test_rows_of_a_block_are_no_lanes():
    """With a second dimension a warp may be several rows."""
    lines = (*THREAD, "S2R R2, SR_TID.Y", "IMAD.WIDE R4, R0, 0x4, R8", "LDG.E R6, desc[UR4][R4.64]")
    assert accesses(*lines) == [(None, False)]


def test_parts_of_a_structure():
    """All five words of one of 20 bytes, of this one and the one 256 further on; four of them are not all."""
    loads = [f"LDG.E R{10 + at}, desc[UR4][R4.64+{hex(4 * at + more)}]" for more in (0, 20 * 256) for at in range(5)]
    address = (*THREAD, "IMAD.WIDE R4, R0, 0x14, R8")
    assert accesses(*address, *loads) == [(20, True)] * 10
    assert accesses(*address, *loads[:4]) == [(20, False)] * 4


@pytest.mark.parametrize(
    ("line", "stride"),
    [("IMAD.WIDE R4, R0, 0x7fffffff, R8", 0x7FFFFFFF), ("LEA R4, P0, R0, UR6, 0xfffff0", None)],
    ids=["far apart", "beyond a register"],
)
def test_listings_that_no_compiler_wrote(line, stride):
    """Are looked at no longer than others, however far apart they say that lanes are."""
    assert accesses(*THREAD, line, "LDG.E R6, desc[UR4][R4.64]") == [(stride, False)]


def test_words_in_a_row_of_lanes_that_lie_anywhere():
    """Four words from 8 bytes before to 8 behind are one place of each lane; one further off is another."""
    row = (*THREAD, "S2R R0, SR_CTAID.X", "IMAD R1, R3, UR4, R0", "IMAD.WIDE R4, R1, 0x4, R8")
    loads = [f"LDG.E R{10 + at}, desc[UR4][R4.64{offset}]" for at, offset in enumerate(("+-0x8", "+-0x4", "", "+0x4"))]
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate((*row, *loads, FAR)))
    marked = sass.with_structures(sass.with_threads(sass.with_addresses(sass.with_bases(sass.parse(listing)))))
    assert [one.places for one in marked if one.root == "LDG"] == [(16, 32)] * 4 + [(4, 32)]


FAR = "LDG.E R20, desc[UR4][R4.64+0x40]"
