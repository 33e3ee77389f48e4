"""A disassembly that several modules look at: two loops, one in the other, and waits that spin; lines of a draft."""

from __future__ import annotations

NESTED = """
		Function : ring
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R7+URZ], R6 ;
        /*0020*/              @!P1 BRA 0x100 ;
        /*0030*/                   LDS.128 R8, [R1] ;
        /*0040*/                   LDS R9, [R1] ;
        /*0050*/                   F2F.F64.F32 R10, R9 ;
        /*0060*/                   BRA.DIV UR4, 0x140 ;
        /*0070*/               @P2 BRA 0x30 ;
        /*0080*/                   ATOM.E.ADD.STRONG.GPU PT, R1, [R2.64], R3 ;
        /*0090*/               @P0 BRA 0x10 ;
        /*00a0*/                   STG.E.64 desc[UR4][R2.64], R4 ;
        /*00b0*/              @!P3 BRA 0xa0 ;
        /*00c0*/                   EXIT ;
        /*0100*/                   YIELD ;
        /*0110*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R7+URZ], R6 ;
        /*0120*/              @!P1 BRA 0x100 ;
        /*0130*/                   BRA 0x30 ;
        /*0140*/                   WARPSYNC.COLLECTIVE R1, 0x150 ;
        /*0150*/                   BRA 0x70 ;
        /*0160*/                   BRA 0x160 ;
"""


ANYWHERE = "nobody knows where the lanes' addresses lie, taken as side by side: stride? scatter?"
"""What a draft asks of addresses that come from nowhere, as those of these listings do."""


def lines_in(draft: str) -> list[str]:
    """Without what they are indented by."""
    return [line.strip() for line in draft.splitlines()]
