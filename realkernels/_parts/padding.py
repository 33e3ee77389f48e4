"""How many CTAs share an SM, enforced by the shared memory each of them asks for.

Every CTA is given its whole share of the SM, so that exactly ``ctas_per_sm`` fit and the
carve-out between L1 and shared memory is the same in every run.
"""

from __future__ import annotations

SMS = 132
"""Of an H100 or H200, on which techniques are measured."""
GPC_SMS = 16
"""SMs of a GPC of these (some have 18), which get CTAs of consecutive numbers."""
SHARED_PER_SM = 228 * 1024
RESERVED_PER_CTA = 1024
MAX_PER_CTA = 227 * 1024
GRANULARITY = 128


def resident_ctas(needed: int, ctas_per_sm: int) -> int:
    """How many CTAs an SM then has room for, at least one."""
    return max(SHARED_PER_SM // (padded_shared_bytes(needed, ctas_per_sm) + RESERVED_PER_CTA), 1)


def padded_shared_bytes(needed: int, ctas_per_sm: int) -> int:
    """Dynamic shared memory to ask for so that ``ctas_per_sm`` CTAs fit on an SM and no more.

    ``needed`` bytes are really used. Where they exceed the share they are asked for as they
    are: then fewer CTAs fit, or none, which is for the occupancy rules to say.
    """
    share = SHARED_PER_SM // ctas_per_sm // GRANULARITY * GRANULARITY - RESERVED_PER_CTA
    return max(min(share, MAX_PER_CTA), -(-needed // GRANULARITY) * GRANULARITY)
