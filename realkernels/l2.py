"""What a kernel finds in L2 of data that was touched before: footprint and distance against what L2 holds.

For techniques that read data again. Nothing here is a matter of a device profile: the program states the
fraction of hits, as the ops want it, and every number below comes from a document or a microbenchmark.
"""

from __future__ import annotations

from math import exp, inf

HELD_BYTES = 41 << 20
"""What is left of the 50 MiB of an H100 or H200 for data that SMs of both halves read: each half keeps copies of
its own. From random reads of 32 MiB … 2 GiB by all SMs (`realkernels.microbench` access, footprint): their hits follow
`random_hit` within 0.02. Sweeps over 48 and 64 MiB (l2) agree."""

_STEPS = 60


def random_hit(footprint_bytes: float, fetched_bytes: float = inf) -> float:
    """Fraction of hits of random reads of ``footprint_bytes``, of which ``fetched_bytes`` have come in so far.

    What came in last is there, as far as L2 holds it; of that, places drawn at random repeat and overlap.
    """
    return 1.0 - exp(-min(fetched_bytes, HELD_BYTES) / footprint_bytes)


def sweep_hit(distance_bytes: float) -> float:
    """Fraction of hits of a sweep over what was touched before, ``distance_bytes`` of other and own data ago.

    All of it if L2 holds the distance. Else what is fetched anew throws out, here and there, what would have been hit
    later: a miss per byte of distance leaves exp(-misses / held), and the hits are what solves that.
    """
    ratio = distance_bytes / HELD_BYTES
    if ratio <= 1.0:
        return 1.0
    low, high = 0.0, 1.0 - 1e-9
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if exp(-(1.0 - middle) * ratio) > middle else (low, middle)
    return low
