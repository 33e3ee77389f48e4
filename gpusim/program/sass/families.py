"""Opcodes that share a unit and a latency, named in several places of this package."""

from __future__ import annotations

__all__ = ["FP32", "SPECIAL"]

FP32 = ("FFMA", "FADD", "FMUL")
"""FP32 arithmetic: an instruction a cycle, on two pipes of half that rate."""
SPECIAL = ("MUFU", "POPC", "FLO", "BREV", "F2I", "I2F")
"""What the special-function unit executes, at an eighth of the full rate."""
