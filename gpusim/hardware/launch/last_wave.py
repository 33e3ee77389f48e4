"""Which SMs take the CTAs that are left when the last full wave ends.

Models: a CTA goes to whichever slot is free first. CTAs of one SM end almost together, because they share everything,
  while SMs end a little apart; so some SMs take several of those left, others none, and the last wave takes as long as
  a full one. Where CTAs of an SM end further apart than SMs do, each SM takes one before any takes two.
Omits: by how much older CTAs get ahead where many warps queue for the schedulers; there each SM takes one, too.
Source: realkernels.microbench (last_wave).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from gpusim.hardware.sm.compute import FEW_CHAINS

__all__ = ["Independent", "deal_left_over", "older_get_ahead"]

_BOUND, _IN_TURN = 0.7, 4.0
"""Utilisation of the schedulers, and warps on each, beyond which CTAs of an SM end 4 to 40 % of their time apart; below
1 to 3 % for each. Read off `last_wave` (with 6 warps CTAs that wait are together at a utilisation of 0.66, apart at
0.73) and off 76 random kernels of three techniques with stamps, of which no recording was kept."""
_IN_TURN_WIDE = 3.0
"""Warps of many chains never leave a slot to others: of those already four on a scheduler end 7 to 50 % apart, and
three at most 8 % (`last_wave`, 16 values)."""
_IN_TURN_SHARED = 5.0
"""Warps on each scheduler beyond which CTAs end apart where shared memory is busy instead: up to 4.5 end together, six
and more up to 47 % apart, unless all that they wait for from DRAM was asked for a turn ahead (`last_wave`, values 0; 12
of 18 kernels)."""
_MULTIPLYING, _PRODUCTS = 0.33, 16
"""Utilisation of the tensor cores by mma.sync from which on CTAs end 15 to 23 % of their time apart, if their warps
have so many independent products. Below, and with 8 products up to 0.4, it is 1 to 6 %, with 16 at 0.36 some 10 (23
kernels with 2 to 4 CTAs on an SM, timed with stamps of which no recording was kept). Of 60 further ones three with
tiles of 64 x 256 by eight warps end 17 to 25 % apart, at 0.42 to 0.45 on the device and 0.33 to 0.37 by the model."""


class Independent(NamedTuple):
    """How many instructions of a warp are independent of each other, in the ops that have most of them."""

    chains: float
    """FFMAs of a warp that do not wait for each other."""
    products: float
    """Products by mma.sync that do not, 0 for none."""


def older_get_ahead(warps: float, issuing: float, sharing: float, multiplying: float, independent: Independent) -> bool:
    """Whether CTAs with ``warps`` on each scheduler end apart.

    ``issuing``, ``sharing``, ``multiplying``: part of the time in which the schedulers issue, shared memory answers,
    and tensor cores work.
    """
    if multiplying > _MULTIPLYING and independent.products >= _PRODUCTS:
        return True
    served = _IN_TURN if independent.chains <= FEW_CHAINS else _IN_TURN_WIDE
    return (warps > served and issuing > _BOUND) or (warps > _IN_TURN_SHARED and sharing > _BOUND)


def deal_left_over(ends_s: Sequence[float], spread_s: float, left_over: int, sms: int) -> tuple[int, ...]:
    """How many SMs take 0, 1, 2 … of ``left_over`` CTAs, one for each of their slots at most.

    ``ends_s``: when the CTAs in the slots of a typical SM end; ``spread_s``: standard deviation between SMs.
    """
    normal = NormalDist()
    earlier = (spread_s * normal.inv_cdf((sm + 0.5) / sms) for sm in range(sms))
    free = sorted((offset + end, sm) for sm, offset in enumerate(earlier) for end in ends_s)
    by_sm = Counter(sm for _, sm in free[:left_over])
    sharing = Counter(by_sm.values())
    return (sms - len(by_sm), *(sharing[count] for count in range(1, len(ends_s) + 1)))
