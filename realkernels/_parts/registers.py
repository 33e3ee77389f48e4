"""Registers of a thread: how many resident CTAs leave each, and how many consumers have when producers give them up."""

from __future__ import annotations

REGISTERS_PER_SM, REGISTER_UNIT = 65536, 8
MOST_REGISTERS, MOST_SPLIT = 255, 240
"""Per thread: an instruction can name 255; ``setmaxnreg`` is used up to 240."""


def registers_at_launch(warps: int, ctas_per_sm: int, most: int = MOST_REGISTERS) -> int:
    """Per thread, at most ``most``, of CTAs of ``warps`` warps of which so many share an SM."""
    share = REGISTERS_PER_SM // (32 * warps * ctas_per_sm)
    return min(share // REGISTER_UNIT * REGISTER_UNIT, most)


def registers_behind_split(at_launch: int, warps: int, producer_warps: int, kept: int) -> int:
    """Per consumer thread of such a CTA whose producers keep ``kept`` each and leave the others the rest."""
    left = at_launch * warps - kept * producer_warps
    return min(left // (warps - producer_warps) // REGISTER_UNIT * REGISTER_UNIT, MOST_SPLIT)
