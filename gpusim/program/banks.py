"""How often an access of a warp passes shared memory, whose 32 banks give a word of four bytes each at once.

Models: as many lanes pass together as want 128 bytes, twice as many where neighbours, or neighbours but one, want the
  same; then as often as the fullest bank has different words for them. Stores likewise.
Source: realkernels.microbench (banks, words).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["WORD", "wavefronts"]

_BANKS = 32
WORD = 4
"""Bytes of a bank's word: of so many per lane a whole warp's pass shared memory once."""


def wavefronts(addresses: Sequence[int | None], width: int) -> int:
    """Turns of shared memory for a warp whose lanes want ``width`` bytes each at ``addresses``; None: nothing."""
    together = _BANKS * WORD // width
    if width > WORD and any(_in_pairs(addresses, distance) for distance in (1, 2)):
        together *= 2
    return sum(_passes(addresses[first : first + together], width) for first in range(0, len(addresses), together))


def _in_pairs(addresses: Sequence[int | None], distance: int) -> bool:
    """Whether lanes whose numbers differ in the bit ``distance`` want the same, if they want anything."""
    pairs = ((addresses[lane], addresses[lane | distance]) for lane in range(len(addresses)) if not lane & distance)
    return all(one == other or None in (one, other) for one, other in pairs)


def _passes(addresses: Sequence[int | None], width: int) -> int:
    wanted = [address for address in addresses if address is not None]
    words = {(address + byte) // WORD for address in wanted for byte in range(0, width, WORD)}
    banks = [word % _BANKS for word in words]
    return max(map(banks.count, set(banks)), default=0)
