"""Stores of a warp to parts of sectors: how long an SM takes to send them, and which of them L1 puts together.

Models: a turn for each sector, and one for each line of which sectors are written in part. L1 keeps the lines of stores
  until it needs the room; what comes in between throws them out: more lines of the warp's own stores, and those of
  others. Warps that store at the same time, as behind a barrier, all come in between; of others that wait it is fewer,
  as warps come one after the other and finish what they store. Of stores that wait for loads of their own each fewer
  meet, the same part of any (`lsu.merging_split`).
Omits: how many instructions stand between the stores (up to 64 make no difference).
Assumes: of stores that wait, what comes in between grows with the root of their number.
Source: realkernels.microbench structs (bytes from L1 to L2, by the counters), store_parts (cycles); see the profile.
"""

from __future__ import annotations

from gpusim.hardware.memory.access import DENSE, Access

__all__ = ["WARPS_OF_AN_SM", "merged_part", "turns_of"]

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


def turns_of(access: Access, merged: float = 0.0) -> float:
    """Turns, of a sector each, in which an SM sends a byte of ``access``, of which L1 has put ``merged`` together."""
    lines = access.lines if access.fetched > 1.0 else 0.0
    return (1.0 - merged) * (lines + access.sectors) + merged * DENSE.sectors
