"""Stores of a warp to parts of the same sectors, one right behind the other, which L1 puts together.

Models: L1 keeps the lines of stores until it needs the room; what comes in between throws them out: more lines of the
  warp's own stores, and those of others that store at the same time.
Omits: how many instructions stand between the stores (up to 64 make no difference); stores that wait for loads of
  their own each, of which fewer meet.
Assumes: of stores that wait, what comes in between grows with the root of their number.
Source: realkernels.microbench structs (bytes from L1 to L2, by the counters); see the profile.
"""

from __future__ import annotations

__all__ = ["WARPS_OF_AN_SM", "merged_part"]

WARPS_OF_AN_SM = 64
SHARPNESS = 3
"""How suddenly nothing is put together any more, by the same bench."""


def merged_part(lines: float, waiting: float, kept_lines: float, crowd: float) -> float:
    """Part of the stores that L1 puts together, each of which touches so many ``lines``.

    ``waiting``: stores of other warps, up to one of each that an SM has. ``kept_lines``: how many L1 keeps at most, 0
    if none. ``crowd``: how many lines come in between where all of them wait, over those of one store.
    """
    if not kept_lines:
        return 0.0
    between = lines * (1.0 + crowd * (min(waiting, WARPS_OF_AN_SM) / WARPS_OF_AN_SM) ** 0.5)
    return max(1.0 - (between / kept_lines) ** SHARPNESS, 0.0)
