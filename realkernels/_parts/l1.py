"""What a kernel finds in L1 of values that it loads and stores again and again: registers that are spilled.

For techniques that spill. The program states the fraction of hits, as the ops want it.
"""

from __future__ import annotations

from math import exp

from realkernels._parts.hopper import L1_AND_SHARED_PER_SM, SHARED_PER_SM

__all__ = ["MISSED_CYCLES", "cyclic_hit"]

OTHER_BYTES = 5 << 10
"""Of L1 that hold something else, or lie where too many values want to be: with so many the law below is nearest to
what the compiler spills in 28 KiB (0.07 off on average), and 0.03 off over all (`realkernels.microbench`
local_hits)."""
MISSED_CYCLES = 265.0
"""By how much later a load of such a value comes that L1 does not serve (`realkernels.microbench` local: values one
after the other, 305 instead of 40)."""
_ROUNDS = 60


def cyclic_hit(footprint_bytes: float, l1_bytes: float = L1_AND_SHARED_PER_SM - SHARED_PER_SM) -> float:
    """Fraction of hits of warps that go round and round ``footprint_bytes`` in an L1 of ``l1_bytes``.

    A line that comes in takes the place of any other. Until a line is wanted again as many come in as miss in a round,
    and each of them leaves it where it is with a chance of 1 - 1 / lines: h = exp(-(1 - h) * footprint / held).
    """
    held = max(l1_bytes - OTHER_BYTES, 1.0)
    if footprint_bytes <= held:
        return 1.0
    hit = 0.0
    for _ in range(_ROUNDS):
        hit = exp(-(1.0 - hit) * footprint_bytes / held)
    return hit
