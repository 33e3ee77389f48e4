"""Who gets the issue slots of one scheduler, among warps that do different things.

Models: a warp that can issue goes on, so that warps which wait much take little from those that wait little, and lose
  a lot to them: they get on in the gaps. Of warps that all can issue, a few are served at a time, and the others queue:
  who has waited for something goes to the end of the queue. Of warps that never meet others, those in the queue take
  what those served leave, except for the gaps of loops over shared memory.
Omits: the order among the warps of one CTA; where in a loop its gaps are; that an odd warp which is left at the end
  issues at its own rate.
Source: realkernels.microbench (fairness, turns, mixed, short_ctas).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gpusim.hardware.compute_cost import ComputeCost

__all__ = ["Sharing", "Turn", "cycles_per_slot", "served"]

_FULL = 0.92
"""Utilisation by others beyond which a warp's wait no longer grows: loops have gaps that nobody counts. From a chain
of shuffles beside FFMAs, which becomes 6 to 14 times slower (`mixed`)."""
_MORE = 1.5
"""Who needs so many times as long for an instruction begins to yield; one more, and it does so for good. Between loops
that share evenly, 1.2 times, and chains that yield, 3 times (`mixed`); no bench says where in between."""
_CLOSE, _ROUNDS = 1e-3, 20


class Turn(NamedTuple):
    """Place in the queue for issue slots: since when warps have been ready, and the number of their CTA on the SM."""

    since_s: float
    cta: int


Group = tuple[Turn, float, ComputeCost]
"""Ready warps of one CTA on one scheduler: their place in the queue, how many, and the cost of each."""


class Sharing:
    """Who gets how many issue slots; what was found for the same warps before is remembered."""

    def __init__(self, most: float, wait: float) -> None:
        """``most``: warps served in any case; ``wait``: cycles that one loses in the gaps of others."""
        self._most, self._wait = most, wait
        self._cycles: dict[tuple[tuple[ComputeCost, float], ...], list[float]] = {}

    def slots_per_cycle(self, groups: Sequence[Group]) -> list[float]:
        """Issue slots a cycle of each group; the one that has been ready longest stands first."""
        shares = served(groups, self._most)
        warps = [(share * number, cost) for share, (_, number, cost) in zip(shares, groups, strict=True)]
        # Those that do the same get on equally.
        present: dict[ComputeCost, float] = {}
        for number, cost in warps:
            if number:
                present[cost] = present.get(cost, 0.0) + number
        mix = tuple(present.items())
        cycles = self._cycles.get(mix)
        if cycles is None:
            cycles = self._cycles[mix] = cycles_per_slot([(n, cost) for cost, n in mix], self._wait)
        each = {cost: 1.0 / apart for cost, apart in zip(present, cycles, strict=True)}
        slots = [number * each[cost] if number else 0.0 for number, cost in warps]
        return _with_gaps(slots, shares, groups)


def _with_gaps(slots: list[float], shares: Sequence[float], groups: Sequence[Group]) -> list[float]:
    """``slots``, and what is left of a cycle for those in the queue that are not served."""
    left = 1.0
    for got, share, (_, number, cost) in zip(slots, shares, groups, strict=True):
        left -= got * cost.taken if cost.loose and not cost.batches else max(got, share * number * cost.demand)
    for at, (share, (_, number, cost)) in enumerate(zip(shares, groups, strict=True)):
        if left <= 0.0:
            break
        if share < 1.0 and cost.loose:
            more = (1.0 - share) * number * cost.demand
            if more * cost.taken > left:
                more = left / cost.taken
            slots[at] += more
            left -= more * cost.taken
    return slots


def served(warps: Sequence[Group], most: float) -> list[float]:
    """Part of each group of ready warps of one scheduler that gets issue slots: who has been ready longest goes first.

    So many are served as fill the slots, but ``most`` in any case: if they all can issue, warps take turns with each
    other before one of another CTA gets anything. Who waits for each instruction holds up nobody.

    ``warps``: (turn, number of warps, cost of each).
    """
    shares = []
    for turn, _, cost in warps:
        before, used, beside, wanted = 0.0, {}, 0.0, {}
        for other, rivals, rival in warps:
            ahead = rivals * (1.0 - _yields(rival, cost))
            if other.cta == turn.cta:
                beside += ahead
                wanted[rival] = wanted.get(rival, 0.0) + ahead * rival.demand
            elif other < turn:
                before += ahead
                used[rival] = used.get(rival, 0.0) + ahead * rival.demand
        room = max((most - before) / beside, (1.0 - _slots(used)) / _slots(wanted))
        shares.append(min(max(room, 0.0), 1.0) if before else 1.0)
    return shares


def _slots(wanted: dict[ComputeCost, float]) -> float:
    """Issue slots a cycle that these warps can use; those that queue for the unit of constants use at most ``most``."""
    return sum(min(demand, cost.most) if cost.most < 1.0 else demand for cost, demand in wanted.items())


def cycles_per_slot(warps: Sequence[tuple[float, ComputeCost]], wait: float) -> list[float]:
    """Cycles from one instruction to the next of a warp of each group, all groups on one scheduler.

    ``warps``: (number of warps, cost of each). Between two of its own a warp sees at most one instruction of each other
    warp, and of slower ones fewer. Loops that issue one instruction right behind the other make those warps yield that
    need much longer for each: these wait for gaps, and lose up to ``wait`` cycles of their latency as often as gaps are
    few.
    """
    cycles = alone = [1.0 / cost.demand for _, cost in warps]
    yields = [[_yields(own, cost) for _, cost in warps] for _, own in warps]
    for _ in range(_ROUNDS):
        before, cycles = cycles, []
        for own, (_, cost) in enumerate(warps):
            rivals = sum(
                number * min(before[own] / before[other], 1.0) * (1.0 - yields[other][own])
                for other, (number, _) in enumerate(warps)
            )
            cycles.append(cost.turn(rivals))
        if all(abs(new - old) <= _CLOSE * old for new, old in zip(cycles, before, strict=True)):
            break
    return [c + _gap_wait(min(a, wait), c, row, warps) for c, a, row in zip(cycles, alone, yields, strict=True)]


def _gap_wait(wait: float, cycles: float, yields: Sequence[float], warps: Sequence[tuple[float, ComputeCost]]) -> float:
    """What waiting for gaps adds to the ``cycles`` of a warp: much while rivals are in their loops, else nothing."""
    busy = [number * cost.runs * part for part, (number, cost) in zip(yields, warps, strict=True)]
    runs = sum(busy)
    if not runs:
        return 0.0
    looping = sum(part * cost.looping for part, (_, cost) in zip(busy, warps, strict=True)) / runs
    runs = min(runs, _FULL)
    slowed = cycles + wait * runs / (1.0 - runs)
    return 1.0 / (looping / slowed + (1.0 - looping) / cycles) - cycles


@lru_cache(maxsize=4096)
def _yields(own: ComputeCost, rival: ComputeCost) -> float:
    """Whether a warp gets on only in the gaps of a rival, because it needs longer for an instruction, 0 … 1."""
    return rival.density * min(max(rival.demand / own.demand - _MORE, 0.0), 1.0)
