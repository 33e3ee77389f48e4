"""Which SMs are given the same CTAs, so that one stands for all.

SMs that do without the last of their CTAs are simulated with those that run it; the memory system knows how many want
it. CTAs of unequal lengths are dealt one by one to whoever is free first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise

from gpusim.program import KernelProgram

__all__ = ["SmClass", "deal_evenly", "place_ctas"]

_ALONE = 4
"""Classes that may end last in each of these ways, and stand for themselves: the total hangs on them alone."""
_LEAST_TILES = 1e-6
"""How long a CTA has its slot, in tiles, that has none: else the next one would get the same slot, and so on."""


@dataclass(frozen=True, slots=True)
class SmClass:
    """SMs that run the same list of CTAs."""

    sm: int
    """Number of the first of them."""
    multiplicity: int
    """How many they are."""
    tiles: tuple[int, ...]
    """Tiles of each CTA, in the order in which they run."""
    parts: tuple[float, ...] = ()
    """Part of these SMs that run each of the last CTAs at all; who runs one of them has run those before it."""

    def part(self, left: int) -> float:
        """Part of the SMs that run the CTA behind which ``left`` others come."""
        return self.parts[-1 - left] if left < len(self.parts) else 1.0


def place_ctas(
    program: KernelProgram,
    sms: int,
    ctas_per_sm: int,
    dealt: tuple[int, ...] | None = None,
    *,
    beside: float = 0.0,
    most: int | None = None,
) -> list[SmClass]:
    """CTAs on SMs: one to each SM in turn until all are full, then wherever one has ended first.

    SMs without a CTA are left out. ``dealt``: how many SMs take 0, 1, 2 … of the equal CTAs that are left after the
    last full wave (`gpusim.hardware.launch.last_wave`); else they are dealt evenly. When CTAs differ their tiles
    stand for time, of which each takes ``beside`` more; of classes of SMs there are ``most``, if that is stated.
    """
    if program.equal_tiles is not None:
        return _place_equal(program.grid, program.equal_tiles, sms, ctas_per_sm, dealt)
    lists: list[list[int]] = [[] for _ in range(sms)]
    slots = [(0.0, slot, sm) for slot in range(ctas_per_sm) for sm in range(sms)]
    heapify(slots)
    for cta in range(program.grid):
        busy_until, slot, sm = heappop(slots)
        tiles = program.tiles_of(cta)
        lists[sm].append(tiles)
        heappush(slots, (busy_until + max(tiles + beside, _LEAST_TILES), slot, sm))
    by_work: dict[tuple[int, ...], list[int]] = {}
    for sm, tiles in enumerate(lists):
        if tiles:
            by_work.setdefault(tuple(tiles), []).append(sm)
    classes = [SmClass(members[0], len(members), tiles) for tiles, members in by_work.items()]
    if most is None or len(classes) <= most:
        return classes
    return _much_alike(classes, most, beside, program.grid <= sms * ctas_per_sm)


def _much_alike(classes: Sequence[SmClass], most: int, beside: float, side_by_side: bool) -> list[SmClass]:
    """The ``most`` of ``classes`` that stand for all: each for those that have about as much to do.

    Who ends last stands for itself: the SM with most to do, or if CTAs run ``side_by_side`` the few with most, with the
    longest CTA, and with much of both, depending on how much they slow each other down.
    """

    def work(sm: SmClass) -> float:
        return sum(sm.tiles) + beside * len(sm.tiles)

    by_work = sorted(classes, key=work)
    last = by_work[-1:]
    if side_by_side:
        by_length = sorted(by_work, key=lambda sm: max(sm.tiles))
        by_both = sorted(by_work, key=lambda sm: work(sm) + len(sm.tiles) * max(sm.tiles))
        last = [sm for sm in by_work if any(sm in order[-_ALONE:] for order in (by_work, by_length, by_both))]
    others = [sm for sm in by_work if sm not in last]
    count = most - len(last)
    found = []
    bounds = [number * len(others) // count for number in range(count + 1)]
    for first, behind in pairwise(bounds):
        alike = others[first:behind]
        found.append(replace(alike[len(alike) // 2], multiplicity=sum(sm.multiplicity for sm in alike)))
    return [*found, *last]


def _place_equal(grid: int, tiles: int, sms: int, ctas_per_sm: int, dealt: tuple[int, ...] | None) -> list[SmClass]:
    """After full waves SMs differ only in the last: those that take most of it, and end last, stand for all.

    With several slots an SM takes its next CTA when any of them is free, which keeps the counts of equal CTAs within
    one of each other unless many are free at the same time.
    """
    before, left_over = divmod(grid, sms * ctas_per_sm)
    if not before:
        each, more = divmod(left_over, sms)
        found = [SmClass(0, more, (tiles,) * (each + 1)), SmClass(more, sms - more, (tiles,) * each)]
        return [sm for sm in found if sm.multiplicity and sm.tiles]
    if dealt is None:
        dealt = deal_evenly(left_over, sms, ctas_per_sm)
    parts = [sum(dealt[count:]) / sms for count in range(1, len(dealt)) if any(dealt[count:])]
    return [SmClass(0, sms, (tiles,) * (before * ctas_per_sm + len(parts)), tuple(parts))]


def deal_evenly(left_over: int, sms: int, ctas_per_sm: int) -> tuple[int, ...]:
    """How many SMs take 0, 1, 2 … of ``left_over`` CTAs if none takes two more than another."""
    each, more = divmod(left_over, sms)
    return tuple({each: sms - more, each + 1: more}.get(count, 0) for count in range(ctas_per_sm + 1))
