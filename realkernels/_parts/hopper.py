"""The GPUs on which techniques are measured, an H100 and an H200, as far as they are alike.

For what a technique decides itself: how much shared memory a CTA asks for, how many CTAs a wave has, which
configurations to measure. What a prediction prices comes from a device profile. The numbers are spelled out here
because measuring needs numpy and CuPy alone, and a profile is YAML; a test compares them with both profiles.
"""

from __future__ import annotations

from gpusim.program.access_ops import GPC_SMS

__all__ = [
    "CTAS_PER_SM", "GPC_SMS", "L1_AND_SHARED_PER_SM", "MAX_PER_CTA", "REGISTERS_PER_SCHEDULER", "REGISTERS_PER_SM",
    "RESERVED_PER_CTA", "SCHEDULERS", "SHARED_PER_SM", "SHARED_UNIT", "SMS", "WARPS_PER_SM",
]  # fmt: skip

SMS = 132
SCHEDULERS = 4
"""Of an SM; each has a part of the registers to itself."""
WARPS_PER_SM, CTAS_PER_SM = 64, 32
"""Resident at the same time, at most."""

REGISTERS_PER_SM = 65536
REGISTERS_PER_SCHEDULER = REGISTERS_PER_SM // SCHEDULERS

L1_AND_SHARED_PER_SM, SHARED_PER_SM = 256 << 10, 228 << 10
"""Bytes; the second is taken from L1 where CTAs fill the SM with shared memory."""
MAX_PER_CTA, RESERVED_PER_CTA, SHARED_UNIT = 227 << 10, 1 << 10, 128
"""Bytes of shared memory: the most a CTA may ask for, what the driver takes of each besides, and the steps."""
