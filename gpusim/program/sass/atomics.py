"""How atomics are stated: on global memory by width, result and what they add, on shared memory by turns of it."""

from __future__ import annotations

from gpusim.program.sass.listing import Instruction

__all__ = ["ATOMICS", "SHARED_ATOMIC", "counts_once", "shared_turns", "stated_as", "waited_for"]

ATOMICS = ("RED", "REDG", "ATOMG")
"""On global memory."""
SHARED_ATOMIC = "ATOMS"
_FLOATING = frozenset({"F64", "F32", "F32x2", "F32x4", "F16x2", "F16x4", "F16x8", "BF16x2", "BF16x4", "BF16x8"})


def stated_as(one: Instruction) -> str:
    """The field of ``atomic`` that counts it."""
    returns = ", returns: true" if one.root == "ATOMG" else ""
    floating = ", floating: true" if _FLOATING.intersection(one.opcode.split(".")) else ""
    return f"bytes (width: {one.width}{returns}{floating})"


def counts_once(one: Instruction) -> bool:
    """Whether lanes that want the same word of shared memory are one update: where all add 1."""
    return "INC" in one.opcode.split(".")


def shared_turns(one: Instruction) -> float:
    """How often an atomic on shared memory passes it where no two lanes want words of a bank: two values of a swap."""
    swaps = any(part.startswith("CAS") for part in one.opcode.split("."))
    return one.width / 4 * (2.0 if swaps else 1.0)


def waited_for(one: Instruction) -> bool:
    """Whether an atomic on shared memory brings back the old value."""
    return not one.operands[0].startswith("RZ")
