"""What comes early or late by chance: loads from DRAM, and CTAs that follow others.

Pseudo-random amounts, the same in every run, as parts of the largest. Without them the data of every tile would arrive
at the same distance, and CTAs would follow each other like on a conveyor belt and never want the same thing at once.
Amounts of loads repeat with the turns of the rings (`gpusim.hardware.folding.periodic`), so that turns can be left out;
over a turn they cancel. Each CTA has its own order of them.
Source: realkernels.microbench tma (spread of the latency); see the profile.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["LEAST_TURN", "of_loads", "of_place", "of_start"]

LEAST_TURN = 8
"""Tiles: so many different amounts at least. With fewer CTAs fall into a rhythm sooner, with more a steady state takes
longer to see."""

MOST_SHIFTS = 64
"""Loads of a tile with chances of their own, and distances to choose theirs from: of turns of hundreds of tiles every
n-th, because each is looked at in every tile."""

_GOLDEN, _SILVER = 0.5 * (5.0**0.5 - 1.0), 2.0**0.5 - 1.0
"""Steps of which any number in a row are spread evenly; two, because loads have nothing to do with
starts."""
_WORD = (1 << 64) - 1


def of_start(age: int) -> float:
    """How late the ``age``-th CTA of an SM begins: -1 to 1."""
    return 2.0 * _evenly(age, _SILVER) - 1.0


@lru_cache(maxsize=4096)
def of_loads(age: int, turn: int) -> tuple[float, ...]:
    """How late the loads of tile 0, 1, … ``turn`` - 1 of the ``age``-th CTA of an SM are: -1 to 1, evenly spread.

    Those of CTAs' first tiles are evenly spread as well.
    """
    order = sorted(range(turn), key=lambda level: _scattered(age * turn + level))
    first = order.index(int(turn * _evenly(age, _GOLDEN)))
    return tuple((2.0 * level + 1.0) / turn - 1.0 for level in order[first:] + order[:first])


def of_place(lates: tuple[float, ...], tile: int, place: int) -> float:
    """How late of the ``lates`` of a CTA the load in ``place`` 0, 1, … of those of ``tile`` is.

    Loads of one tile lie far from each other, so that each is late by a chance of its own: by what is another tile's of
    the first.
    """
    shifts = _shifts(lates, place % min(len(lates), MOST_SHIFTS) + 1)
    return lates[(tile + shifts[-1]) % len(lates)]


@lru_cache(maxsize=4096)
def _shifts(lates: tuple[float, ...], places: int) -> tuple[int, ...]:
    """By how many tiles further on the loads of so many places take theirs, that of a tile's first one included.

    One after the other so that the latest of n is as late on average as of n chances that are spread evenly over -1 to
    1: by (n - 1) / (n + 1).
    """
    if places == 1:
        return (0,)
    found, turn = _shifts(lates, places - 1), len(lates)
    latest = [max(lates[(tile + shift) % turn] for shift in found) for tile in range(turn)]
    choice, mean = min(turn, MOST_SHIFTS), (places - 1.0) / (places + 1.0)

    def misses(shift: int) -> float:
        return abs(sum(max(late, lates[(tile + shift) % turn]) for tile, late in enumerate(latest)) / turn - mean)

    left = {turn * number // choice for number in range(1, choice)}.difference(found)
    return *found, min(sorted(left), key=misses)


def _evenly(number: int, step: float) -> float:
    return (0.5 + number * step) % 1.0


def _scattered(number: int) -> int:
    """A hash that differs in half of its bits from that of the next number (splitmix64)."""
    mixed = (number + 1) * 0x9E3779B97F4A7C15 & _WORD
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _WORD
    return mixed ^ mixed >> 31
