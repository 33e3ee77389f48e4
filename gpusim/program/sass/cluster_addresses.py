"""Which generic loads and stores go to shared memory of another CTA of the cluster.

The address of that is what `mapa` gives: the rank in its place (PRMT), with the upper half of the window of shared
memory (SR_SWINHI). Followed in the order of the addresses, as far as registers are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import addressed, read, written

__all__ = ["with_cluster_addresses"]

_WINDOW = "SR_SWINHI"
_RANK = "0x654"
"""Bytes that PRMT takes: three of the address in shared memory, and the rank above them."""
_COPIES = ("MOV", "IMAD.MOV")
_ACCESSES = ("LD", "ST")


def with_cluster_addresses(instructions: Sequence[Instruction]) -> list[Instruction]:
    """All ``instructions`` of a kernel, loads and stores in other CTAs marked."""
    window: set[int] = set()
    ranked: set[int] = set()
    found = []
    for one in instructions:
        first = next(iter(addressed(one)), -1) if one.root in _ACCESSES else -1
        there = first in ranked and first + 1 in window
        found.append(replace(one, in_cluster=True) if there else one)
        source = next(iter(read(one)), -1) if one.opcode.startswith(_COPIES) else -1
        for register in written(one):
            _keep(window, register, _WINDOW in one.text or source in window)
            _keep(ranked, register, (one.root == "PRMT" and _RANK in one.text) or source in ranked)
    return found


def _keep(those: set[int], register: int, kept: bool) -> None:
    (those.add if kept else those.discard)(register)
