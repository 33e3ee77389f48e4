"""How much later than the average CTA the last one ends.

Models: all SMs of a class are simulated as one, with mean latencies. Real ones differ: every load
  from DRAM takes a little more or less, and some SMs lie further from memory than others. Where a
  CTA waits for its loads these differences add up (a random walk, and a drift), and the kernel
  ends with the slowest of all CTAs. Where HBM is saturated they do not: bandwidth that one SM
  leaves is used by the others.
Omits: correlation between CTAs of one SM.
Source: realkernels.microbench (tma: spread of the latency; burst: slowest against mean CTA).
"""

from __future__ import annotations

from math import log, pi, sqrt

__all__ = ["expected_maximum", "lateness_cycles"]


def expected_maximum(count: float) -> float:
    """Expected maximum of ``count`` standard normal numbers (first order; 0 below two)."""
    if count < 2:
        return 0.0
    leading = sqrt(2.0 * log(count))
    return max(leading - (log(log(count)) + log(4.0 * pi)) / (2.0 * leading), 0.0)


def lateness_cycles(waits: float, ctas: float, jitter: float, drift: float, load: float) -> float:
    """Cycles by which the last of ``ctas`` CTAs ends after the mean one.

    ``waits``: loads each CTA waited for; ``jitter``: standard deviation of one load's latency;
    ``drift``: mean excess per load of the worst-placed SM; ``load``: utilisation of HBM.
    """
    walk = expected_maximum(ctas) * jitter * sqrt(waits)
    return (walk + drift * waits) * max(1.0 - load, 0.0)
