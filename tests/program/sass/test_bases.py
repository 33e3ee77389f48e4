"""From how many places accesses to global memory count their addresses."""

from __future__ import annotations

import pytest

from gpusim.program import sass


def bases(*lines: str) -> int:
    """Different places of the loads, stores and copies of a listing."""
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate(lines))
    marked = sass.with_bases(sass.parse(listing))
    return len({one.base for one in marked if one.root in ("LDG", "STG", "LDGSTS")})


@pytest.mark.parametrize("access", ["LDG.E R9, ", "LDGSTS.E [R9], "])
def test_a_pair_of_registers_that_is_used_again_is_another_place(access):
    """The offset in the instruction does not matter, but what is written to the pair does."""
    loads = [f"{access}desc[UR4][R2.64+{hex(offset)}]" for offset in (0, 0x100)]
    assert bases(*loads) == 1
    assert bases(loads[0], "IADD3 R2, P0, R4, R6, RZ", "IADD3.X R3, R5, R7, RZ, P0, !PT", loads[1]) == 2
    assert bases(loads[0], "IADD3 R4, P0, R4, R6, RZ", loads[1]) == 1


def test_where_a_copy_goes_in_shared_memory_does_not_matter():
    """Only what it fetches lies in pieces."""
    assert bases("LDGSTS.E [R9], desc[UR4][R2.64]", "LDGSTS.E [R10], desc[UR4][R2.64+0x100]") == 1
