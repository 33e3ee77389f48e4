"""Blocks that the compiler has put elsewhere, by listings written by hand."""

from __future__ import annotations

from gpusim.program import sass

LOOP = """
        /*0000*/                   MOV R0, RZ ;
        /*0010*/                   BRA 0x50 ;
        /*0020*/                   LDGSTS.E.128 [R1], desc[UR4][R2.64] ;
        /*0030*/                   LDGDEPBAR ;
        /*0040*/                   BRA 0x80 ;
        /*0050*/                   DEPBAR.LE SB0, 0x0 ;
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0070*/               @P0 BRA 0x20 ;
        /*0080*/                   LDS.128 R8, [R5] ;
        /*0090*/                   FADD R0, R0, R8 ;
        /*00a0*/               @P1 BRA 0x50 ;
        /*00b0*/                   STG.E desc[UR4][R6.64], R0 ;
        /*00c0*/                   EXIT ;
        /*00d0*/                   BRA 0xd0 ;
"""
"""A loop that asks for a later tile behind its barrier; the compiler has put the copy in front of it."""


def opcodes(text: str) -> list[str]:
    return [one.opcode for one in sass.in_place(sass.parse(text))]


def test_a_block_comes_to_where_it_runs():
    found = sass.in_place(sass.parse(LOOP))
    assert [one.opcode for one in found] == [
        "MOV", "BRA", "DEPBAR.LE", "BAR.SYNC.DEFER_BLOCKING", "BRA", "LDGSTS.E.128", "LDGDEPBAR", "LDS.128", "FADD",
        "BRA", "STG.E", "EXIT", "BRA",
    ]  # fmt: skip
    assert [one.address for one in found] == list(range(0, 16 * len(found), 16))
    branches = [one.text for one in found if one.root == "BRA"]
    # Into the loop, around the copy where it was not asked for, back, and the padding.
    assert branches == ["BRA 0x20", "@!P0 BRA 0x70", "@P1 BRA 0x20", "BRA 0xc0"]


def test_uniform_branches_turn_round_too():
    found = sass.in_place(sass.parse(LOOP.replace("@P0 BRA 0x20", "    BRA UP0, 0x20")))
    assert "BRA !UP0, 0x70" in [one.text for one in found]


def test_what_two_branches_lead_to_stays():
    both = LOOP.replace("FADD R0, R0, R8", "@P2 BRA 0x20")
    assert opcodes(both) == [one.opcode for one in sass.parse(both)]


def test_arithmetic_alone_stays():
    """As the slow path of a division."""
    slow = LOOP.replace("LDGSTS.E.128 [R1], desc[UR4][R2.64]", "FADD R1, R1, R2").replace(
        "LDGDEPBAR", "FADD R1, R1, R3"
    )
    assert opcodes(slow) == [one.opcode for one in sass.parse(slow)]


def test_what_goes_on_elsewhere_stays():
    """It jumps not back to what stands behind its branch."""
    elsewhere = LOOP.replace("BRA 0x80", "BRA 0x90")
    assert opcodes(elsewhere) == [one.opcode for one in sass.parse(elsewhere)]
