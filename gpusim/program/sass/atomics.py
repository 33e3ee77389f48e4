"""How an atomic on global memory is stated: by its width, whether its result is used, and what it adds."""

from __future__ import annotations

from gpusim.program.sass.listing import Instruction

__all__ = ["ATOMICS", "stated_as"]

ATOMICS = ("RED", "REDG", "ATOMG")
_FLOATING = frozenset({"F64", "F32", "F32x2", "F32x4", "F16x2", "F16x4", "F16x8", "BF16x2", "BF16x4", "BF16x8"})


def stated_as(one: Instruction) -> str:
    """The field of ``atomic`` that counts it."""
    returns = ", returns: true" if one.root == "ATOMG" else ""
    floating = ", floating: true" if _FLOATING.intersection(one.opcode.split(".")) else ""
    return f"bytes (width: {one.width}{returns}{floating})"
