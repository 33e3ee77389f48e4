"""Accesses that together take all of a structure of each lane, x, y and z of a point; or several words in a row."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import globally_addressed

__all__ = ["with_structures"]

_OFFSET = re.compile(r"\[[^\]]*?\+(-?0x[0-9a-f]+)\]")


def with_structures(instructions: Sequence[Instruction]) -> list[Instruction]:
    """All ``instructions`` of a kernel; those that leave nothing out from one lane to the next are marked.

    Lanes are as far apart as `gpusim.program.sass.threads` has found. Where that is unknown, accesses of each lane to
    words in a row are of one place.
    """
    taken: dict[tuple, set[int]] = defaultdict(set)
    apart: dict[tuple, set[int]] = defaultdict(set)
    for one in instructions:
        if one.stride:
            taken[_whose(one)].add(_offset(one) % one.stride)
        elif _by_itself(one):
            apart[_where(one)].add(_offset(one))
    whole = {_whose(one) for one in instructions if one.stride and _complete(taken[_whose(one)], one.stride, one.width)}
    marked = [replace(one, whole=True) if one.stride and _whose(one) in whole else one for one in instructions]
    return [_with_neighbours(one, apart[_where(one)]) if _by_itself(one) else one for one in marked]


def _offset(one: Instruction) -> int:
    found = _OFFSET.search(one.text)
    return int(found[1], 16) if found else 0


def _complete(offsets: set[int], stride: int, width: int) -> bool:
    """Whether accesses of ``width`` bytes at ``offsets`` leave nothing out from one lane to the next."""
    return len(offsets) * width >= stride and offsets >= set(range(0, stride, width))


def _whose(one: Instruction) -> tuple[str, int, tuple[int, ...]]:
    """What accesses to parts of one structure have in common."""
    return one.opcode, one.stride or 0, tuple(globally_addressed(one))


def _by_itself(one: Instruction) -> bool:
    """Whether each lane has a place of its own, nobody knows how far from the next."""
    return not one.stride and one.places is not None and one.places[1] > 1 and one.places[0] == one.width


def _where(one: Instruction) -> tuple:
    """What accesses have in common that differ by their offsets alone."""
    return one.opcode, one.base or tuple(globally_addressed(one))


def _with_neighbours(one: Instruction, offsets: set[int]) -> Instruction:
    """``one`` as a part of all that its lanes want in a row, at ``offsets`` from the same address."""
    first = last = _offset(one)
    while first - one.width in offsets:
        first -= one.width
    while last + one.width in offsets:
        last += one.width
    row, count = one.places
    return replace(one, places=(row + last - first, count))
