"""Where the lanes of an access to global memory lie, if the code says so: bytes in a row, and in how many places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.atomics import ATOMICS
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import globally_addressed
from gpusim.program.sass.thread_numbers import Number

__all__ = ["places_of", "stride_of"]

_ACCESSES = ("LDG", "STG", "LDGSTS", *ATOMICS)
_NARROW = re.compile(r"\.[US](8|16)\b")
_BYTE = 8
_WORD = 1 << 32


def places_of(one: Instruction, known: Callable[[str], Number | None], threads: int) -> tuple[int, int] | None:
    """For a warp of ``threads``; None if nobody knows, if warps differ, or if ``one`` is no such access.

    Places that lie apart by something that nobody knows are places of their own.
    """
    number = _address(one, known)
    if number is None:
        return None
    narrow = _NARROW.search(one.opcode)
    width = int(narrow[1]) // _BYTE if narrow else one.width
    labels = [0] * len(number.by_thread) if number.apart is None else number.apart.tolist()
    wanted = list(zip(labels, number.by_thread.tolist(), strict=True))
    found = set()
    for first in range(0, len(wanted), WARP_SIZE):
        active = [wanted[thread] for thread in range(first, first + WARP_SIZE) if threads >> thread & 1]
        if active:
            found.add(_in_a_row(active, width))
    (places,) = found if len(found) == 1 else (None,)
    return places


def stride_of(one: Instruction, known: Callable[[str], Number | None]) -> int | None:
    """Bytes from one lane's address to the next one's, if they are the same for all lanes, and not 0."""
    number = _address(one, known)
    if number is None or number.apart is not None:
        return None
    steps = np.unique(np.diff(number.by_thread.reshape(-1, WARP_SIZE)) % _WORD)
    return int(steps[0]) or None if len(steps) == 1 else None


def _address(one: Instruction, known: Callable[[str], Number | None]) -> Number | None:
    """The lower half of it."""
    registers = globally_addressed(one) if one.root in _ACCESSES else []
    return known(f"R{registers[0]}") if registers else None


def _in_a_row(wanted: Iterable[tuple[int, int]], width: int) -> tuple[int, int] | None:
    """Bytes in a row and places of one warp; None if places differ in length."""
    rows: list[tuple[int, int, int]] = []
    for label, address in sorted(set(wanted)):
        if rows and rows[-1][0] == label and address <= rows[-1][2]:
            rows[-1] = label, rows[-1][1], max(rows[-1][2], address + width)
        else:
            rows.append((label, address, address + width))
    lengths = {end - begin for _, begin, end in rows}
    return (lengths.pop(), len(rows)) if len(lengths) == 1 else None
