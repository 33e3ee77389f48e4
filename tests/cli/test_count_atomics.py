"""``gpusim count`` on atomics: those on global memory are ops, those on shared memory part of what is computed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpusim import loads
from gpusim.program import Atomic
from gpusim.program.sass import stated
from gpusim.program.sass.listing import Instruction
from tests.cli.listings import ANYWHERE, lines_in

ADDS = """
        Function : adds
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0020*/                   IMAD.WIDE.U32 R2, R0, 0x4, R2 ;
        /*0030*/                   LDG.E R7, desc[UR4][R2.64] ;
        /*0040*/                   REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R7 ;
        /*0050*/                   REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU desc[UR4][R12.64], R16 ;
        /*0060*/                   ATOMS.ADD R1, [R8], R3 ;
        /*0070*/              @!P0 ATOMG.E.ADD.64.STRONG.GPU PT, R10, desc[UR4][R14.64], R4 ;
        /*0080*/                   IADD3 R10, R10, 0x1, RZ ;
        /*0090*/                   EXIT ;
"""
DISTINCT = "distinct? bytes of the values that the grid updates again and again"


def test_a_draft_has_an_op_for_each_kind(drafted):
    """By width, whether the result is used and what is added; one lane alone has an address of its own."""
    draft = drafted(ADDS, 4)
    lines = lines_in(draft)
    assert f"- atomic: {{bytes: 512, width: 4}}  # {DISTINCT}" in lines
    assert f"- atomic: {{bytes: 2 KiB, width: 16, floating: true}}  # {DISTINCT}; {ANYWHERE}" in lines
    one = "- atomic: {bytes: 8, width: 8, other: 1, warps: 1, scatter: 8, returns: true}"
    assert f"{one}  # {DISTINCT}; one lane" in lines
    assert any(line.startswith("- compute: {atoms: 1, ") and "atoms_waits: 1" in line for line in lines)


def test_a_draft_of_atomics_is_a_program(drafted):
    """Its ops are in the words of a scenario file."""
    roles = "\n".join(f"    {line}" for line in drafted(ADDS, 4).splitlines())
    scenario = loads(f"question: q\ndevice: h200_sxm\nkernel:\n  grid: 132\n  tiles_per_cta: 1\n  roles:\n{roles}\n")
    (role,) = scenario.program().roles
    atomics = [op for op in role.body(1) if isinstance(op, Atomic)]
    assert [(op.bytes, op.width, op.returns, op.floating) for op in atomics] == [
        (2048, 16, False, True), (512, 4, False, False), (8, 8, True, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("opcode", "width"),
    [
        ("REDG.E.ADD.STRONG.GPU", 4), ("REDG.E.ADD.64.STRONG.GPU", 8), ("REDG.E.ADD.F64.RN.STRONG.GPU", 8),
        ("REDG.E.ADD.F32x2.RN.STRONG.GPU", 8), ("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU", 16),
        ("REDG.E.ADD.F16x2.RN.STRONG.GPU", 4), ("RED.E.ADD.STRONG.GPU", 4),
    ],
)  # fmt: skip
def test_the_opcode_tells_the_width(opcode, width):
    """Bytes of a lane, of all its numbers together."""
    assert Instruction.of(f"{opcode} desc[UR4][R2.64], R7 ;").width == width


SUMS = """
        Function : sums
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LEA R2, R0, UR4, 0x2 ;
        /*0020*/                   LDG.E R7, desc[UR4][R4.64] ;
        /*0030*/                   LEA R3, R7, UR4, 0x2 ;
        /*0040*/                   ATOMS.POPC.INC.32 RZ, [R3+URZ] ;
        /*0050*/                   ATOMS.CAS R9, [R3], R7, R8 ;
        /*0060*/                   ATOMS.ADD RZ, [R2], R7 ;
        /*0070*/                   LDS R5, [R3] ;
        /*0080*/                   FADD R6, R5, R7 ;
        /*0090*/                   ATOMS.CAST.SPIN R6, [R3], R5, R6 ;
        /*00a0*/                   ISETP.EQ.U32.AND P0, PT, R6, 0x1, PT ;
        /*00b0*/              @!P0 BRA 0x70 ;
        /*00c0*/                   EXIT ;
"""


def test_a_draft_counts_atomics_on_shared_memory(drafted):
    """With those whose old values are used; how many turns they take nobody knows."""
    lines = lines_in(drafted(SUMS, 4))
    (once,) = (line for line in lines if "atoms: 3" in line)
    assert "atoms_wavefronts" not in once
    assert "atoms_waits: 1" in once
    assert "nobody knows which words lanes want: wavefronts?" in once


def test_a_draft_says_how_often_a_swap_is_tried(drafted):
    """Of the loop that a sum of floating point is."""
    lines = lines_in(drafted(SUMS, 4))
    asks = "how often? Until no swap fails: as often as the fullest bank has lanes, 3.6 times"
    assert any(asks in line for line in lines)
    assert any("atoms: 1, atoms_wavefronts: 2" in line and "lds: 1" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "one_address", "turns"),
    [
        ("ATOMS.ADD RZ, [R2], R7 ;", True, 32), ("ATOMS.POPC.INC.32 RZ, [R2+URZ] ;", True, 1),
        ("@!P0 ATOMS.ADD R1, [R2], R7 ;", True, 1), ("ATOMS.CAST.SPIN.64 R6, [R2], R4, R8 ;", False, 4),
        ("ATOMS.CAST.SPIN.64 R6, [R2], R4, R8 ;", True, 4), ("ATOMS.CAS R6, [R2], R4, R8 ;", True, 64),
    ],
)  # fmt: skip
def test_lanes_of_one_word_take_turns_unless_all_add_1(text, one_address, turns):
    """One lane alone does where a predicate keeps the others from it; a swap is two of each."""
    (row,) = stated([replace(Instruction.of(text), one_address=one_address)])[:1]
    assert (row.field, row.wavefronts) == ("atoms", turns)
