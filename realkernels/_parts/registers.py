"""Registers of a thread: how many resident CTAs leave each, and how many consumers have when producers give them up."""

from __future__ import annotations

from gpusim.program import WARP_SIZE
from gpusim.program.registers import MOST_REGISTERS, REGISTER_UNIT
from realkernels._parts.hopper import REGISTERS_PER_SM

__all__ = ["MOST_SPLIT", "registers_at_launch", "registers_behind_split"]

MOST_SPLIT = 240
"""Per thread: ``setmaxnreg`` is used up to so many."""


def registers_at_launch(warps: int, ctas_per_sm: int, most: int = MOST_REGISTERS) -> int:
    """Per thread, at most ``most``, of CTAs of ``warps`` warps of which so many share an SM."""
    share = REGISTERS_PER_SM // (WARP_SIZE * warps * ctas_per_sm)
    return min(share // REGISTER_UNIT * REGISTER_UNIT, most)


def registers_behind_split(at_launch: int, warps: int, producer_warps: int, kept: int) -> int:
    """Per consumer thread of such a CTA whose producers keep ``kept`` each and leave the others the rest."""
    left = at_launch * warps - kept * producer_warps
    return min(left // (warps - producer_warps) // REGISTER_UNIT * REGISTER_UNIT, MOST_SPLIT)
