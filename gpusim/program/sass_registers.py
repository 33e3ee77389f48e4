"""Which registers an instruction of a disassembly reads and writes, as far as waits for loads hang on them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpusim.program.sass import Instruction

__all__ = ["loaded", "touched"]

_REGISTERS = re.compile(r"\bR(\d+)(\.64)?")
_WORDS = {"64": 2, "128": 4}


def loaded(one: Instruction) -> range:
    """Registers that a load writes: the first operand, two or four of them if it is wide."""
    match = _REGISTERS.search(one.text)
    first = int(match[1]) if match else 0
    return range(first, first + _words(one)) if match else range(0)


def touched(one: Instruction) -> Iterator[int]:
    """Registers that an instruction reads or, which waits as well, writes; of wide ones all."""
    for number, (first, wide) in enumerate(_REGISTERS.findall(one.text)):
        # The data of a store is its last operand, that of a load its first; addresses are one register or two.
        data = number == 0 if one.opcode.startswith("LD") else one.opcode.startswith("ST") and number > 0
        yield from range(int(first), int(first) + (_words(one) if data else 2 if wide else 1))


def _words(one: Instruction) -> int:
    return next((_WORDS[part] for part in one.opcode.split(".") if part in _WORDS), 1)
