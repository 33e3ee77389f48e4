"""How many CTAs share an SM, enforced by the shared memory each of them asks for.

Every CTA is given its whole share of the SM, so that exactly ``ctas_per_sm`` fit and the
carve-out between L1 and shared memory is the same in every run.
"""

from __future__ import annotations

from realkernels._parts.hopper import MAX_PER_CTA, RESERVED_PER_CTA, SHARED_PER_SM, SHARED_UNIT

__all__ = ["padded_shared_bytes", "resident_ctas"]


def resident_ctas(needed: int, ctas_per_sm: int) -> int:
    """How many CTAs an SM then has room for, at least one."""
    return max(SHARED_PER_SM // (padded_shared_bytes(needed, ctas_per_sm) + RESERVED_PER_CTA), 1)


def padded_shared_bytes(needed: int, ctas_per_sm: int) -> int:
    """Dynamic shared memory to ask for so that ``ctas_per_sm`` CTAs fit on an SM and no more.

    ``needed`` bytes are really used. Where they exceed the share they are asked for as they
    are: then fewer CTAs fit, or none, which is for the occupancy rules to say.
    """
    share = SHARED_PER_SM // ctas_per_sm // SHARED_UNIT * SHARED_UNIT - RESERVED_PER_CTA
    return max(min(share, MAX_PER_CTA), -(-needed // SHARED_UNIT) * SHARED_UNIT)
