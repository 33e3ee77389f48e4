"""Which loads, stores and copies of global memory count their addresses from the same place.

They do if they name the same registers and nothing has been written to these in between: a compiler that has too few
of them works out one address after the other in the same pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import globally_addressed, written

__all__ = ["with_bases"]

_ACCESSES = ("LDG", "STG", "LDGSTS")


def with_bases(instructions: Sequence[Instruction]) -> list[Instruction]:
    """All ``instructions`` of a kernel, accesses to global memory marked with what has written their addresses."""
    writers: dict[int, int] = {}
    found = []
    for one in instructions:
        if one.root in _ACCESSES:
            base = tuple((register, writers.get(register, -1)) for register in globally_addressed(one))
            found.append(replace(one, base=base))
        else:
            found.append(one)
        writers.update(dict.fromkeys(written(one), one.address))
    return found
