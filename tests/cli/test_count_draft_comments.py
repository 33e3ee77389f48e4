"""``gpusim count --draft``: what machine code does not say, and a draft asks for."""

from __future__ import annotations

import pytest

from tests.cli.listings import ANYWHERE, lines_in

SOME_TURNS = """
        Function : some
        /*0000*/                   LDG.E R5, desc[UR4][R6.64] ;
        /*0010*/                   FADD R4, R4, R5 ;
        /*0020*/               @P0 BRA 0x90 ;
        /*0030*/                   STS [R8], R4 ;
        /*0040*/               @P1 BRA 0x80 ;
        /*0050*/                   LDG.E R9, desc[UR4][R10.64] ;
        /*0060*/                   ATOMS.ADD R1, [R2], R9 ;
        /*0070*/               @P2 BRA 0x50 ;
        /*0080*/                   STG.E desc[UR4][R2.64], R4 ;
        /*0090*/                   IADD3 R6, R6, 0x4, RZ ;
        /*00a0*/               @P3 BRA 0x0 ;
        /*00b0*/                   EXIT ;
"""


def test_a_draft_asks_when_code_is_jumped_over(drafted):
    """On its first line, and the end is marked; of a loop in it the draft asks how often it runs anyway."""
    lines = lines_in(drafted(SOME_TURNS))
    question = "jumped over by a branch: always taken? every? skip_first? skip_last? warps?"
    asked = [line for line in lines if question in line]
    assert [line[:20] for line in asked] == ["- compute: {setup: 1"]
    ends = [at for at, line in enumerate(lines) if line == "# up to here"]
    assert [lines[at - 1][:8] for at in ends] == ["- store:"]


TWO_PLACES = """
        Function : rows_apart
        /*0000*/                   LDGSTS.E [R1], desc[UR4][R2.64] ;
        /*0010*/                   LDGSTS.E [R1+0x80], desc[UR4][R2.64+0x80] ;
        /*0020*/                   IADD3 R2, P0, R2, R8, RZ ;
        /*0030*/                   LDGSTS.E [R9], desc[UR4][R2.64] ;
        /*0040*/                   LDGDEPBAR ;
        /*0050*/                   EXIT ;
"""


def test_a_draft_counts_places_and_not_registers(drafted):
    """Two of three copies are from the same place, the third, by the same registers, from another one."""
    assert f"# its ring?; {ANYWHERE.replace('stride? scatter?', 'row? pitch?')}; 2 addresses: pieces?" in drafted(
        TWO_PLACES
    )


HALO = """
        Function : halo
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0008*/                   LDC.64 R10, c[0x0][0x210] ;
        /*0010*/                   ISETP.GT.AND P0, PT, R0, 0x1, PT ;
        /*0020*/                   IMAD.WIDE R2, R0, {}, R10 ;
        /*0030*/               @P0 BRA 0x50 ;
        /*0040*/                   LDGSTS.E.128 [R7], desc[UR4][R2.64] ;
        /*0050*/                   LDGDEPBAR ;
        /*0060*/                   EXIT ;
"""
APART = "2 lanes: 32 bytes each if they are not side by side"


@pytest.mark.parametrize(
    ("step", "fetched", "about"),
    [("0x800", 64, "2 lanes: whole sectors"), ("0x10", 32, "2 lanes: whole sectors"), ("R5", 32, APART)],
)
def test_of_a_few_lanes_sectors_count(drafted, step, fetched, about):
    """Each lane's own, where the address says that they are apart; where it says nothing the draft does not know."""
    op = f"- cp_async: {{bytes: {fetched}, width: 16, warps: 1, other: 1}}  # its ring?; {about}"
    assert op in lines_in(drafted(HALO.format(step)))
