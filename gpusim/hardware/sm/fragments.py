"""Warps that load fragments from shared memory and multiply them by mma.sync, one instruction after the other.

Models: a warp goes on with a product when the loads that it needs are there and the tensor core of its scheduler is
  free; loads of all schedulers queue for shared memory. Those who have waited longest are served first. Warps that
  meet begin each turn together, and so all want shared memory at once.
Omits: that a warp which has just issued goes before others of its kind (1 % worse on average), other users of shared
  memory, whose share is a matter of `gpusim.hardware.sm.sm`.
Source: realkernels.microbench fragments (875 loops of 1 to 16 warps of up to four CTAs: 4 % off on average; if
  every load of a turn waited as long as the mean one, 8 and up to 40 % too fast).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple

from gpusim.program import Mix

__all__ = ["Fragments", "runs_of", "turn_cycles"]

_LOAD = -1
_BATCHES, _PRODUCTS = 8, 64
"""Batches of loads of a turn that are told apart where only their number is known, and products of each at most: more
of them are as many batches."""
_REPEATS = 3
"""Repetitions of a turn's runs after which each takes as long as the one before."""
_TURNS = 5
"""Turns that warps do which are out of step; the first one is left aside."""


class Fragments(NamedTuple):
    """What one warp does in a turn."""

    runs: tuple[tuple[int, int, int], ...]
    """Loads, products behind them, and of the loads until then the last ones that these products do not need."""
    repeats: float
    """How often a turn goes through the runs."""
    latency: float
    """Cycles from a load to what needs it."""
    path: float
    """Cycles of shared memory for each load."""
    interval: float
    """Cycles from one load of a scheduler to its next one."""
    load: float
    """Cycles from a load of a warp to its next instruction."""
    product: float
    """Cycles from a product of a warp to its next one, where other instructions stand between them."""
    core: float
    """Cycles of a tensor core for each product."""
    slots: float
    """Cycles of the scheduler for a product and what stands behind it."""
    around: float
    """Cycles of a warp at the end of a turn."""
    meets: bool = False
    """Whether the warps of a CTA begin each turn together."""


def runs_of(mix: Mix) -> tuple[tuple[tuple[int, int, int], ...], float]:
    """The runs of ``mix``, and how often it goes through them: as stated, or batches of equal size."""
    if mix.fragments:
        return mix.fragments, mix.mma / sum(products for _, products, _ in mix.fragments)
    waits = max(mix.lds / max(mix.loads_in_flight, 1.0), mix.mma / _PRODUCTS)
    batches = max(min(round(waits), round(mix.mma)), 1)
    shown = min(batches, _BATCHES)
    runs: list[tuple[int, int, int]] = []
    loaded = multiplied = 0
    for number in range(1, shown + 1):
        loads = round(mix.lds * number / batches) - loaded
        products = max(round(mix.mma * number / batches) - multiplied, 1)
        loaded, multiplied = loaded + loads, multiplied + products
        # What stands between loads and their use are products of the batch before, be it that of an op before this one.
        before = min(round(mix.load_to_use), products - 1) if number > 1 or batches == 1 else 0
        runs += _batch(loads, before, products - before)
    return tuple(runs), mix.mma / multiplied


def _batch(loads: int, before: int, products: int) -> Iterator[tuple[int, int, int]]:
    """Runs of ``loads``, so many products ``before`` they are needed, and ``products`` that need them one by one.

    The first one needs two, as it has two operands.
    """
    if before:
        yield loads, before, loads
    steps = max(min(loads - 1, products), 1)
    for step in range(steps):
        here = products * (step + 1) // steps - products * step // steps
        yield 0 if before or step else loads, here, steps - 1 - step


@lru_cache(maxsize=1024)
def turn_cycles(fragments: Fragments, ctas: int, warps: float, schedulers: int, spread: int = 0) -> float:
    """Cycles of a turn of ``warps`` warps on each of ``schedulers`` schedulers, in each of ``ctas`` CTAs.

    Between whole numbers of warps a straight line. Warps that meet begin within ``spread`` cycles.
    """
    whole = int(warps)
    if warps > whole:
        more = turn_cycles(fragments, ctas, whole + 1, schedulers, spread)
        less = turn_cycles(fragments, ctas, whole, schedulers, spread) if whole else 0.0
        return less + (warps - whole) * (more - less)
    told = min(max(round(fragments.repeats), 1), _REPEATS)
    cycles = _Turns(fragments, told, ctas, whole, schedulers).cycles(spread)
    if fragments.repeats == told:
        return cycles
    before = _Turns(fragments, told - 1, ctas, whole, schedulers).cycles(spread) if told > 1 else fragments.around
    return cycles + (fragments.repeats - told) * (cycles - before)


class _Turns:
    """Turns with so many ``repeats`` of the runs, simulated instruction by instruction."""

    def __init__(self, fragments: Fragments, repeats: int, ctas: int, warps: int, schedulers: int) -> None:
        self._fragments = fragments
        self._ops: list[int] = []
        """Instructions of one turn: `_LOAD`, or how many of the loads since its beginning a product needs."""
        self._loads = 0
        for loads, products, ahead in fragments.runs * repeats:
            self._loads += loads
            self._ops += [_LOAD] * loads + [self._loads - ahead] * products
        self._here = warps * schedulers
        """Warps of a CTA."""
        self._turns = 1 if fragments.meets and ctas == 1 else _TURNS
        self._place, self._done = [0] * (ctas * self._here), [0] * (ctas * self._here)
        """Where each warp is in its turn, and how many it has done."""
        self._there: list[list[float]] = [[] for _ in self._place]
        """When the loads of each warp come, in cycles as all times here."""
        self._ports, self._loaders, self._cores = ([0.0] * schedulers for _ in range(3))
        """When a scheduler can issue again, can issue a load, and a product."""
        self._path = 0.0
        """When shared memory is free."""
        self._ends = [[0.0] * self._turns for _ in range(ctas)]
        self._left = [[self._here] * self._turns for _ in range(ctas)]
        """Warps that have not done a turn yet."""

    def cycles(self, spread: int) -> float:
        """Cycles of a turn; for warps that are out of step the mean of those behind the first one."""
        ops, here, ctas = self._ops, self._here, len(self._ends)
        # CTAs begin at different times.
        apart = self._fragments.core * sum(op != _LOAD for op in ops) / ctas
        later = spread / max(here - 1, 1)
        queue = [(warp // here * apart + warp % here * later, warp, warp) for warp in range(ctas * here)]
        served = len(queue)
        while queue:
            now, order, warp = heappop(queue)
            at = self._earliest(now, warp)
            if at > now:
                # Who has asked first is served first.
                heappush(queue, (at, order, warp))
                continue
            now = self._issue(now, warp)
            served += 1
            self._place[warp] += 1
            if self._place[warp] < len(ops):
                heappush(queue, (now, served, warp))
                continue
            for begins, other in self._end_turn(now + self._fragments.around, warp):
                served += 1
                heappush(queue, (begins, served, other))
        if self._turns == 1:
            return max(end[0] for end in self._ends)
        return sum(end[-1] - end[0] for end in self._ends) / (ctas * (self._turns - 1))

    def _earliest(self, now: float, warp: int) -> float:
        """When a warp can issue its next instruction, as far as is known ``now``."""
        scheduler, needed = warp % len(self._ports), self._ops[self._place[warp]]
        if needed == _LOAD:
            return max(now, self._ports[scheduler], self._loaders[scheduler])
        needed += self._done[warp] * self._loads
        there = self._there[warp][needed - 1] if needed > 0 else 0.0
        return max(now, self._ports[scheduler], self._cores[scheduler], there)

    def _issue(self, now: float, warp: int) -> float:
        """Issue a warp's next instruction; when it wants to issue the one behind."""
        fragments, scheduler = self._fragments, warp % len(self._ports)
        if self._ops[self._place[warp]] == _LOAD:
            self._ports[scheduler], self._loaders[scheduler] = now + 1.0, now + fragments.interval
            begins = max(now, self._path)
            self._path = begins + fragments.path
            self._there[warp].append(begins + fragments.latency)
            return now + fragments.load
        self._ports[scheduler], self._cores[scheduler] = now + fragments.slots, now + fragments.core
        return now + fragments.product

    def _end_turn(self, now: float, warp: int) -> Iterator[tuple[float, int]]:
        """A warp has done a turn: who begins the next one, and when."""
        cta, turn = warp // self._here, self._done[warp]
        self._place[warp], self._done[warp] = 0, turn + 1
        self._ends[cta][turn] = max(self._ends[cta][turn], now)
        self._left[cta][turn] -= 1
        if turn + 1 == self._turns:
            return
        if not self._fragments.meets:
            yield now, warp
        elif not self._left[cta][turn]:
            for other in range(cta * self._here, (cta + 1) * self._here):
                yield self._ends[cta][turn], other
