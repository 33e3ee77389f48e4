"""Who gets the issue slots of one scheduler, among warps of several CTAs and roles.

Models: a warp that can issue goes on until it pauses; then the oldest CTA whose warps can issue goes first. In each
  pause of an older one a younger one goes on until that pauses itself, for which the older one has to wait. What older
  CTAs leave is for the younger ones: all of it for those that pause after every instruction, and of those that
  seldom do as much as is free when they happen to want it. A few warps get on equally, whatever their age. The
  fullest pipe of half rate, the one of special functions and the tensor core are given in the same order. Within a CTA
  warps that can issue take little from those that wait for each instruction, which get on in the gaps. Where the gaps
  of all are known they get no more together than as many warps of one kind would, in the mean of their kinds.
Omits: that a warp comes behind the others after an instruction which the compiler has marked to yield; the order among
  the warps of one CTA; where in a loop its pauses are.
Source: realkernels.microbench (fairness, turns, steps, mixed, short_ctas).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from math import inf
from operator import attrgetter, mul
from typing import Any, NamedTuple

from gpusim.hardware.sm.compute_cost import ComputeCost

__all__ = ["Group", "Sharing", "cycles_per_slot"]

_FULL = 0.92
"""Utilisation by others beyond which a warp's wait no longer grows: loops have gaps that nobody counts. From a chain
of shuffles beside FFMAs, which becomes 6 to 14 times slower (`mixed`)."""
_MORE = 1.5
"""Who needs so many times as long for an instruction begins to yield; one more, and it does so for good. Between loops
that share evenly, 1.2 times, and chains that yield, 3 times (`mixed`); no bench says where in between."""
_CLOSE, _ROUNDS = 1e-3, 20
_NOTHING = 1e-9
PIPES = 3
"""Of `ComputeCost.pipe_parts`."""
_NO_PIPE = (0.0,) * PIPES


class Group(NamedTuple):
    """Warps of one CTA on one scheduler that all execute the same."""

    age: int
    """Number of their CTA on its SM: the oldest is 0."""
    number: float
    """How many they are."""
    cost: ComputeCost
    """What each of them executes."""


class _Wanted:
    """What warps would issue if nobody but their own CTA were there."""

    __slots__ = ("_weighted", "pieces", "slots")

    def __init__(self, slots: float = 0.0, pieces: float = 0.0, weighted: float = 0.0) -> None:
        self.slots = slots
        """Issue slots a cycle."""
        self.pieces = pieces
        """How often a cycle one of them pauses."""
        self._weighted = weighted

    def more(self, groups: Sequence[Group], slots: Sequence[float]) -> _Wanted:
        """The same and so many ``slots`` of each of ``groups``."""
        total, pieces, weighted = self.slots, self.pieces, self._weighted
        for group, each in zip(groups, slots, strict=True):
            piece = group.cost.piece
            total += each
            pieces += each / piece
            weighted += each * piece
        return _Wanted(total, pieces, weighted)

    @property
    def piece(self) -> float:
        """Issue slots between two pauses."""
        return self._weighted / self.slots if self.slots else 1.0


_NOBODY = _Wanted()


class Sharing:
    """Who gets how many issue slots. What has been asked before is remembered, also of one CTA among itself."""

    def __init__(self, most: float, wait: float) -> None:
        """``most``: warps that share slots evenly; ``wait``: cycles that one loses in the gaps of its CTA's others."""
        self._most, self._wait = most, wait
        self._of_all: dict[tuple[Any, ...], list[float]] = {}
        self._of_one: dict[tuple[Any, ...], list[float]] = {}

    def slots_of(self, groups: Sequence[Group]) -> list[float]:
        """`slots_per_cycle`, found once for groups that differ in the numbers of their CTAs alone."""
        # Which CTA it is does not matter, only which warps are of the same one.
        key: list[Any] = []
        last, cta = -1, -1
        for age, number, cost in groups:
            if age != last:
                last, cta = age, cta + 1
            key += (cta, number, cost)
        known = tuple(key)
        slots = self._of_all.get(known)
        if slots is None:
            slots = self._of_all[known] = self.slots_per_cycle(groups)
        return slots

    def slots_per_cycle(self, groups: Sequence[Group]) -> list[float]:
        """Issue slots a cycle of each group; those of the oldest CTA stand first."""
        ctas = [list(cta) for _, cta in groupby(groups, key=attrgetter("age"))]
        multiply = [any(group.cost.fragments for group in cta) for cta in ctas]
        alone = [self._alone(cta, sum(multiply[:place]), sum(multiply)) for place, cta in enumerate(ctas)]
        behind = [_NOBODY]
        for cta, own in zip(ctas[:0:-1], alone[:0:-1], strict=True):
            behind.append(behind[-1].more(cta, own))
        found: list[float] = []
        even = 0
        slots, pipes = 1.0, [1.0] * PIPES
        room = min(self._most, sum(group.number for group in groups))
        for cta, own, younger in zip(ctas, alone, reversed(behind), strict=True):
            here = len(found)
            wanted = [_interrupted(*one, younger) for one in zip(cta, own, strict=True)] if younger.slots else own
            claimed = _sum(wanted, [group.cost.claimed for group in cta])
            busy = _of_pipes(cta, wanted)
            part = _part(cta, wanted, claimed, slots, pipes, busy)
            issued = part * _sum(wanted, [group.cost.taken for group in cta])
            number = sum([group.number for group in cta])
            # Of the few that get on equally an older CTA gets no more than its share, unless younger ones want less.
            share = slots * min(number / room, 1.0) if room > 0.0 else slots
            fair = max(share, slots - younger.slots)
            if younger.slots and issued > fair:
                part *= fair / issued
            found += [part * each for each in wanted]
            if number <= room and even == here:
                even = len(found)
            room -= number
            slots = _rest(slots - part * claimed)
            if busy != _NO_PIPE:
                pipes = [_rest(left - part * cycles) for left, cycles in zip(pipes, busy, strict=True)]
        found = _evened(groups, found, even)
        part = min(_reachable(groups) / (sum(found) or 1.0), 1.0)
        return [part * each for each in found]

    def _alone(self, cta: Sequence[Group], older: int, multiply: int) -> list[float]:
        """Issue slots a cycle of the groups of a CTA when no other is there, but those that ``multiply`` fragments.

        So many of these are ``older``.
        """
        of_cta = tuple([group[1:] for group in cta])
        key = older, multiply, of_cta
        known = self._of_one.get(key)
        if known is None:
            present: dict[ComputeCost, float] = {}
            for number, cost in of_cta:
                # Those that do the same get on equally.
                present[cost] = present.get(cost, 0.0) + number
            each = cycles_per_slot([(number, cost) for cost, number in present.items()], self._wait)
            cycles = dict(zip(present, each, strict=True))
            known = [number / cycles[cost] for number, cost in of_cta]
            if multiply > 1:
                known = [
                    slots * cost.beside(older, multiply, number)
                    for slots, (number, cost) in zip(known, of_cta, strict=True)
                ]
            self._of_one[key] = known
        return known


def _reachable(groups: Sequence[Group]) -> float:
    """Part of the issue slots that all of ``groups`` together can have; no limit unless the gaps of all are known."""
    for group in groups:
        if not group.cost.rounds:
            return inf
    warps, wanted = sum(group.number for group in groups), sum(group.number * group.cost.demand for group in groups)
    if not wanted:
        return inf
    return sum(group.number * group.cost.demand * group.cost.packing(warps) for group in groups) / wanted


def _interrupted(group: Group, slots: float, younger: _Wanted) -> float:
    """Issue slots a cycle of ``group``, which are ``slots`` alone, when ``younger`` ones go on in its pauses."""
    cost = group.cost
    if cost.fragments:
        # Their tensor core goes on meanwhile.
        return slots
    work = group.number * cost.all_slots
    cycles = work / slots
    idle = cycles - work
    if not younger.slots or not cost.pauses or not cost.idle or idle <= 0.0:
        return slots
    # Warps in step pause together, and the fewer of their pauses are left the more of them there are.
    pauses = cost.pauses * min(idle / cost.idle, 1.0)
    # A piece begins with a short pause, and somewhere in a long one.
    late = max(younger.piece - idle / pauses, (younger.piece - 1.0) / 2.0)
    # Each of its pauses meets a piece, if there are as many in that time.
    on_time = 1.0 - younger.pieces * late
    return work / min(cycles + pauses * late, cycles / on_time if on_time > 0.0 else inf)


def _evened(groups: Sequence[Group], slots: Sequence[float], first: int) -> list[float]:
    """``slots``, of which warps in the ``first`` groups that execute the same get as many as each other."""
    shared: dict[ComputeCost, tuple[float, float]] = {}
    for group, each in zip(groups[:first], slots[:first], strict=True):
        got, number = shared.get(group.cost, (0.0, 0.0))
        shared[group.cost] = got + each, number + group.number
    even = [
        each if group.cost.fragments else group.number * shared[group.cost][0] / shared[group.cost][1]
        for group, each in zip(groups[:first], slots[:first], strict=True)
    ]
    return [*even, *slots[first:]]


def _part(
    cta: Sequence[Group],
    wanted: Sequence[float],
    need: float,
    slots: float,
    pipes: Sequence[float],
    busy: Sequence[float],
) -> float:
    """Part of what a CTA's groups want that they get of the ``slots`` and the ``pipes`` which older CTAs leave.

    ``need``: slots that nobody else gets; ``busy``: cycles of each pipe that they want.
    """
    part = slots / need if need > slots else 1.0
    if slots < 1.0 and not all(group.cost.fragments for group in cta):
        # Single instructions wait for the next free slot; pieces find one free as often as chance has it.
        by_chance = 1.0 - 1.0 / _NOBODY.more(cta, wanted).piece
        part *= 1.0 - by_chance * (1.0 - min(max(slots, need), 1.0))
    if busy != _NO_PIPE:
        for left, cycles in zip(pipes, busy, strict=True):
            if part * cycles > left:
                part = left / cycles
    return part


def _of_pipes(cta: Sequence[Group], wanted: Sequence[float]) -> tuple[float, float, float]:
    """Cycles of the pipes of half rate and of special functions and of the tensor core that ``wanted`` slots take."""
    half_rate = special = tensor = 0.0
    for group, slots in zip(cta, wanted, strict=True):
        parts = group.cost.pipe_parts
        if parts != _NO_PIPE:
            half_rate += slots * parts[0]
            special += slots * parts[1]
            tensor += slots * parts[2]
    return half_rate, special, tensor


def _sum(wanted: Sequence[float], parts: Sequence[float]) -> float:
    return sum(map(mul, wanted, parts))


def _rest(left: float) -> float:
    return left if left > _NOTHING else 0.0


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
