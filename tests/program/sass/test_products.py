"""Products on the tensor cores in machine code: what they are as ops."""

from __future__ import annotations

import pytest

from gpusim.program.sass import Instruction, parts, stated, steps_of
from gpusim.program.sass.products import chains, share


def instructions(*lines: str) -> list[Instruction]:
    return [Instruction.of(line, 16 * number) for number, line in enumerate(lines)]


def words(*lines: str) -> list[tuple[str, dict[str, float]]]:
    """Words and numbers of the steps of code without loops."""
    (whole,) = parts(instructions(*lines))
    return [(step.word, {row.field: row.number for row in step.rows}) for step in steps_of(whole, [whole])]


GROUP = (
    "WARPGROUP.ARRIVE",
    "HGMMA.64x128x16.F32 R24, gdesc[UR20], R24, UP0",
    "R2UR UR20, R10",
    "HGMMA.64x128x16.F32 R24, gdesc[UR24], R24, gsb0",
    "WARPGROUP.DEPBAR.LE gsb0, 0x1",
)


def test_a_group_is_one_op_and_its_descriptors_belong_to_it():
    """Columns and depth are those of the opcode; what is still under way is the counter's."""
    assert words(*GROUP)[1:] == [("wgmma", {"count (n: 128, k: 16)": 2}), ("wgmma_wait", {"pending": 1})]


def test_each_group_is_an_op_of_its_own():
    """The last product of one marks the counter."""
    assert [word for word, _ in words(*GROUP[1:4], *GROUP[1:4])] == ["wgmma", "wgmma"]


def test_first_operand_in_registers():
    """It is no descriptor then."""
    ((_, numbers),) = words("HGMMA.64x256x8.F32.TF32 R24, R4, gdesc[UR8], R24, gsb0")
    assert numbers == {"count (n: 256, k: 8, a: registers)": 1}


@pytest.mark.parametrize(
    ("opcode", "part"),
    [("HMMA.16816.F32", 1), ("HMMA.16816.F32.BF16", 1), ("HMMA.1688.F32", 0.5), ("HMMA.1688.F32.TF32", 1),
     ("HMMA.1684.F32.TF32", 0.5)],
)  # fmt: skip
def test_mma_counts_by_its_depth(opcode, part):
    """32 bytes of each row are a whole one."""
    (one,) = instructions(f"{opcode} R4, R8, R12, R4")
    assert share(one) == part


def test_mma_with_accumulators_of_their_own_are_chains():
    """Four products in two chains; the other types are told as without a model."""
    body = instructions(
        *["HMMA.16816.F32 R4, R8, R12, R4", "HMMA.16816.F32 R16, R8, R12, R16"] * 2, "IMMA.16832 R4, R8"
    )
    assert chains(body) == 2
    rows = {row.field: row.number for row in stated(body)}
    assert (rows["mma"], rows["mma_ilp"], rows["tensor cores"]) == (4, 2, 1)


def test_ldmatrix_loads_as_many_bytes_as_its_matrices_have():
    """Four of 128 bytes pass shared memory four times, as 16 bytes a lane do."""
    rows = {row.field: row for row in stated(instructions("LDSM.16.M88.4 R4, [R12]", "LDSM.16.M88.2 R8, [R12+0x40]"))}
    assert rows["lds (lds_bytes: 16)"].wavefronts == 4
    assert rows["lds (lds_bytes: 8)"].wavefronts == 2
