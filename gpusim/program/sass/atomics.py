"""How atomics are stated: on global memory by width, result and what they add, on shared memory by turns of it."""

from __future__ import annotations

from gpusim.program.banks import WORD
from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.listing import Instruction

__all__ = ["ATOMICS", "SHARED_ATOMIC", "counts_once", "retries", "shared_turns", "stated_as", "waited_for"]

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


def retries(opcode: str) -> bool:
    """Whether it is the swap of a loop that a sum of floating point or of 64 bits is, tried until nobody else did."""
    return "CAST" in opcode.split(".")


def shared_turns(one: Instruction) -> float | None:
    """How often an atomic on shared memory passes it; None where that depends on which words its lanes want."""
    each = one.width / WORD * (2.0 if any(part.startswith("CAS") for part in one.opcode.split(".")) else 1.0)
    # A swap that fails takes no turn of its own; of lanes that all want one word the compiler makes one update by one.
    if retries(one.opcode) or (one.one_address and (one.predicated or counts_once(one))):
        return each
    if one.one_address:
        return each * WARP_SIZE
    return None if one.wavefronts is None else each * one.wavefronts


def waited_for(one: Instruction) -> bool:
    """Whether an atomic on shared memory brings back the old value."""
    return not one.operands[0].startswith("RZ")
