"""What of HBM's time is left where reads and writes mix.

Models: turning round costs more the more evenly both are mixed; between the measured mixes a straight line.
Source: realkernels.microbench (hbm, in_order).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MIX_LOSSES", "left_when_mixed"]

MIX_LOSSES = tuple(f"hbm.mix_loss{part}" for part in ("_mostly_reads", "", "_mostly_writes"))
"""Parts of HBM's time that are lost where a quarter, half and three quarters of what is used goes to writes."""


def left_when_mixed(writes: float, losses: Sequence[float]) -> float:
    """Part of HBM's time, 0..1, that is left if ``writes``, 0..1, of what is used is; ``losses``: see `MIX_LOSSES`."""
    share = 4.0 * min(writes, 1.0)
    known = (0.0, *losses, 0.0)
    below = min(int(share), 3)
    return 1.0 - known[below] - (share - below) * (known[below + 1] - known[below])
