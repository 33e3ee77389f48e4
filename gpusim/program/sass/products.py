"""Products on the tensor cores: HMMA, for which the warp waits, and HGMMA and QGMMA, which are wgmma in groups."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpusim.program.sass.listing import Instruction

__all__ = ["ASYNCHRONOUS", "chains", "ends_group", "field_of_group", "share"]

ASYNCHRONOUS = ("HGMMA", "QGMMA")
"""wgmma of 16 and 32 bits, and of FP8."""
_SHAPE = re.compile(r"\d+x(\d+)x(\d+)")
_WHOLE = {"16816", "1688.TF32"}
"""HMMA of 32 bytes of depth, as shape and type; others here are of half of that."""


def share(one: Instruction) -> float:
    """Part of a product of 16 x 8 and 32 bytes of depth that an HMMA is."""
    modifiers = one.opcode.split(".")
    shape = next((name for name in modifiers if name.isdigit()), "")
    return 1.0 if shape in _WHOLE or ("TF32" in modifiers and f"{shape}.TF32" in _WHOLE) else 0.5


def chains(body: Sequence[Instruction]) -> int:
    """Accumulators of the HMMA of ``body``: products of which none waits for another."""
    return len({one.operands[0] for one in body if one.root == "HMMA"})


def field_of_group(one: Instruction) -> str:
    """Count of a group of wgmma, with columns, depth and where the first operand is."""
    found = _SHAPE.search(one.opcode)
    columns, depth = found.groups() if found else ("?", "?")
    where = "" if one.operands[1].startswith("gdesc") else ", a: registers"
    return f"count (n: {columns}, k: {depth}{where})"


def ends_group(one: Instruction) -> bool:
    """Whether a wgmma is the last one of its group: it marks the group's counter."""
    return "gsb" in one.text
