"""Accesses that together take all of a structure of each lane: x, y and z of a point."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import globally_addressed

__all__ = ["with_structures"]

_OFFSET = re.compile(r"\[[^\]]*?\+(0x[0-9a-f]+)\]")


def with_structures(instructions: Sequence[Instruction]) -> list[Instruction]:
    """All ``instructions`` of a kernel; those that leave nothing out from one lane to the next are marked.

    Lanes are as far apart as `gpusim.program.sass.threads` has found.
    """
    taken: dict[tuple, set[int]] = {}
    for one in instructions:
        if one.stride:
            offset = _OFFSET.search(one.text)
            taken.setdefault(_whose(one), set()).add((int(offset[1], 16) if offset else 0) % one.stride)
    whole = {_whose(one) for one in instructions if one.stride and _complete(taken[_whose(one)], one.stride, one.width)}
    return [replace(one, whole=True) if one.stride and _whose(one) in whole else one for one in instructions]


def _complete(offsets: set[int], stride: int, width: int) -> bool:
    """Whether accesses of ``width`` bytes at ``offsets`` leave nothing out from one lane to the next."""
    return len(offsets) * width >= stride and offsets >= set(range(0, stride, width))


def _whose(one: Instruction) -> tuple[str, int, tuple[int, ...]]:
    """What accesses to parts of one structure have in common."""
    return one.opcode, one.stride or 0, tuple(globally_addressed(one))
