"""What of HBM's time is left where reads and writes mix.

Models: turning round costs as soon as there are any of the other kind, and more the more evenly both are mixed; between
  the measured mixes a straight line.
Source: realkernels.microbench (few_writes, hbm, in_order).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

__all__ = ["MIX_LOSSES", "left_when_mixed"]

MIX_LOSSES = tuple(
    f"hbm.mix_loss{part}" for part in ("_few_writes", "_mostly_reads", "", "_mostly_writes", "_few_reads")
)
"""Parts of HBM's time that are lost where so much of what is used goes to writes as `_SHARES` says."""
_SHARES = (0.0, 1 / 64, 1 / 4, 1 / 2, 3 / 4, 15 / 16, 31 / 32, 1.0)
"""The loss of few reads holds for two of them."""


def left_when_mixed(writes: float, losses: Sequence[float]) -> float:
    """Part of HBM's time, 0..1, that is left if ``writes``, 0..1, of what is used is; ``losses``: see `MIX_LOSSES`."""
    at = max(bisect_left(_SHARES, writes), 1)
    if at == len(_SHARES):
        return 1.0
    known = (0.0, *losses, losses[-1], 0.0)
    below, above, less, more = _SHARES[at - 1], _SHARES[at], known[at - 1], known[at]
    return 1.0 - less - (writes - below) / (above - below) * (more - less)
