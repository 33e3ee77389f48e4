"""Loads from DRAM come early or late by chance: pseudo-random amounts, the same in every run.

Without that every tile's data would arrive at the same distance, and CTAs that share an SM would take turns without
ever meeting. Amounts repeat with the turns of the rings (`gpusim.hardware.periodic`), so that turns can be left out; over
a turn they cancel. Each CTA has its own order of them.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["LEAST_TURN", "jitter_of"]

LEAST_TURN = 8
"""Tiles: so many different amounts at least."""

_GOLDEN = 0.5 * (5.0**0.5 - 1.0)
_WORD = (1 << 64) - 1


@lru_cache(maxsize=4096)
def jitter_of(age: int, turn: int) -> tuple[float, ...]:
    """How late the loads of tile 0, 1, … ``turn`` - 1 of the ``age``-th CTA of an SM are: -1 to 1, evenly spread.

    Those of CTAs' first tiles are evenly spread as well.
    """
    order = sorted(range(turn), key=lambda level: _scattered(age * turn + level))
    first = order.index(int(turn * ((0.5 + age * _GOLDEN) % 1.0)))
    return tuple((2.0 * level + 1.0) / turn - 1.0 for level in order[first:] + order[:first])


def _scattered(number: int) -> int:
    """A hash that differs in half of its bits from that of the next number (splitmix64)."""
    mixed = (number + 1) * 0x9E3779B97F4A7C15 & _WORD
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _WORD
    return mixed ^ mixed >> 31
