"""Registers of a thread, as instructions name them and launches give them out; a profile says how many an SM has."""

from __future__ import annotations

__all__ = ["MOST_REGISTERS", "REGISTER_BYTES", "REGISTER_UNIT", "allocated_registers"]

MOST_REGISTERS = 255
"""Registers that an instruction can name, and so the most of a thread."""
REGISTER_UNIT = 8
"""Registers per thread are given out in steps of so many."""
REGISTER_BYTES = 4
"""Bytes of one register of one thread."""


def allocated_registers(registers: int) -> int:
    """Registers per thread that code occupies which uses ``registers``: whole steps."""
    return -(-registers // REGISTER_UNIT) * REGISTER_UNIT
