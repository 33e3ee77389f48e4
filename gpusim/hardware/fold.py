"""Which warps and which SMs do the same thing at the same time, so that one stands for all.

The cost of a prediction must follow the work's structure, not its size. Two exact
symmetries are used: warps of one role on schedulers that carry the same load, and SMs that
are given the same CTAs. Warps of a few CTAs that do not meet from one tile to the next are not kept
together: each takes its turn at memory as soon as its own data are there, so that one lane stands for
one of them on each scheduler. SMs that do without the last of their CTAs are simulated with those that run it;
the memory system knows how many want it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from gpusim.program import Compute, KernelProgram, Load, Op, Role, Store, TimeStamp, WaitLoads

__all__ = ["SmClass", "WarpGroup", "deal_evenly", "group_warps", "place_ctas"]

_MANY_CTAS = 6
"""CTAs on an SM from which on warps that never meet are kept together all the same: their CTAs are out of step. The 268
recorded kernels without a barrier come out as far off as before (on average within 0.01 %)."""


_LEAST_TILES = 1e-6
"""How long a CTA has its slot, in tiles, that has none: else the next one would get the same slot, and so on."""


@dataclass(frozen=True, slots=True, eq=False)
class WarpGroup:
    """Warps in one CTA slot that one simulated lane stands for; compared by identity."""

    role: Role
    """What they execute."""
    warps: int
    """How many they are: ``per_scheduler`` on each of ``schedulers``."""
    scheduler_class: int
    """Class of their schedulers; those of a class carry the same load."""
    per_scheduler: int
    """How many of them share a scheduler."""
    schedulers: int
    """Schedulers of the class."""
    lane: str
    """Completes the CTA's name to that of their lane."""
    in_step: int
    """Warps that do the same at the same time, these among them."""
    last: int
    """Number in its CTA of the last of them."""
    typical: bool = True
    """Whether they stand for the role: of groups that get out of step, only the middle one does."""
    loose: bool = False
    """Whether the role's warps wait for their own loads only, at least from the second tile on."""
    drifts: bool = False
    """Whether the role's warps get out of step by that."""
    apart: int = 0
    """Number of the group among those of its role that get out of step with each other."""

    @property
    def elects(self) -> bool:
        """Whether the thread that acts for all of the role is one of them."""
        return self.lane == self.role.name


class _Place(NamedTuple):
    """Where one group of warps of a role and CTA is; in the order of the numbers that warps have in their CTA."""

    lowest: int
    """Number of its first warp."""
    last: int
    """Number of its last warp."""
    scheduler_class: int
    per_scheduler: int
    """Warps on each scheduler."""
    schedulers: int
    """Schedulers of the class."""


_Load = dict[tuple[int, int], list[int]]
"""Warps of one scheduler: their numbers in their CTA, by slot of the CTA and number of the role."""


def group_warps(
    program: KernelProgram, slots: int, schedulers: int = 4, sms: int = 1
) -> tuple[list[list[WarpGroup]], int]:
    """The warp groups of each of ``slots`` CTAs of one of ``sms`` SMs, and how many classes of schedulers they need.

    Warps go round the schedulers. A CTA goes on where the one before it ended, and one further when that one
    filled all schedulers equally (realkernels.microbench placement).
    """
    # Many CTAs are out of step in any case.
    few = min(slots, -(-program.grid // sms)) < _MANY_CTAS
    classes = _alike(_deal_warps(program, slots, schedulers))
    groups: list[list[WarpGroup]] = [[] for _ in range(slots)]
    for number, role in enumerate(program.roles):
        drifts, never_meets = _drifts(role), _never_meets(role)
        apart = few and role.warps > schedulers and (never_meets or drifts)
        for slot in range(slots):
            places = _places([[load.get((slot, number), []) for load in loads] for loads in classes], apart)
            groups[slot] += _groups(role, places, apart, drifts or never_meets, drifts)
    return groups, len(classes)


def _deal_warps(program: KernelProgram, slots: int, schedulers: int) -> list[_Load]:
    """Which warps of ``slots`` CTAs each scheduler gets."""
    loads: list[_Load] = [{} for _ in range(schedulers)]
    start = 0
    for slot in range(slots):
        warp = 0
        for number, role in enumerate(program.roles):
            for _ in range(role.warps):
                loads[(start + warp) % schedulers].setdefault((slot, number), []).append(warp)
                warp += 1
        start += program.warps + (program.warps % schedulers == 0)
    return loads


def _alike(loads: Sequence[_Load]) -> list[list[_Load]]:
    """The schedulers by class: those of one have as many warps of each CTA and role."""
    classes: dict[tuple, list[_Load]] = {}
    for load in loads:
        counts = sorted((place, len(warps)) for place, warps in load.items())
        classes.setdefault(tuple(counts), []).append(load)
    return list(classes.values())


def _places(classes: Sequence[Sequence[list[int]]], apart: bool) -> list[_Place]:
    """Where the warps of a role and CTA are, whose numbers are given by class and scheduler.

    ``apart``: each turn round the schedulers is a group of its own.
    """
    places: list[_Place] = []
    for index, members in enumerate(classes):
        turns = list(zip(*members, strict=True))
        if apart:
            places += [_Place(min(turn), max(turn), index, 1, len(members)) for turn in turns]
        elif turns:
            places.append(_Place(min(turns[0]), max(turns[-1]), index, len(turns), len(members)))
    return sorted(places)


def _groups(role: Role, places: Sequence[_Place], apart: bool, loose: bool, drifts: bool) -> list[WarpGroup]:
    return [
        WarpGroup(
            role=role,
            warps=place.per_scheduler * place.schedulers,
            scheduler_class=place.scheduler_class,
            per_scheduler=place.per_scheduler,
            schedulers=place.schedulers,
            lane=role.name if position == 0 else f"{role.name}.warp[{place.lowest}]",
            in_step=place.per_scheduler * place.schedulers if apart else role.warps,
            last=place.last,
            typical=not apart or position == len(places) // 2,
            loose=loose,
            drifts=drifts,
            apart=position if apart else 0,
        )
        for position, place in enumerate(places)
    ]


def _never_meets(role: Role) -> bool:
    """Whether its warps wait for nothing but their own loads."""
    return _only_own_loads(list(role.body(2)))


def _drifts(role: Role) -> bool:
    """Whether from one of its tiles to the next its warps wait for their own loads and for nothing else."""
    once, twice = (len(list(role.body(tiles))) for tiles in (1, 2))
    tile = max(twice - once, 1)
    # What stands before and behind all tiles takes no more than `once`: with enough of them these are a tile's.
    ops = list(role.body(2 + -(-once // tile)))[once : once + tile]
    return _only_own_loads(ops) and any(isinstance(op, Load) for op in ops)


def _only_own_loads(ops: Sequence[Op]) -> bool:
    return all(
        isinstance(op, Load | WaitLoads | Store | TimeStamp) or (isinstance(op, Compute) and op.reads is None)
        for op in ops
    )


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
    last full wave (`gpusim.hardware.last_wave`); else they are dealt evenly. When CTAs differ their tiles stand for
    time, of which each takes ``beside`` more; of classes of SMs there are ``most``, if that is stated.
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
    return classes if most is None or len(classes) <= most else _much_alike(classes, most, beside)


def _much_alike(classes: Sequence[SmClass], most: int, beside: float) -> list[SmClass]:
    """The ``most`` of ``classes`` that stand for all: each for those that have about as much to do.

    Who has most, and ends last, stands for itself.
    """

    def work(sm: SmClass) -> float:
        return sum(sm.tiles) + beside * len(sm.tiles)

    *others, last = sorted(classes, key=work)
    found = []
    bounds = [number * len(others) // (most - 1) for number in range(most)]
    for begin, end in pairwise(bounds):
        alike = others[begin:end]
        found.append(replace(alike[len(alike) // 2], multiplicity=sum(sm.multiplicity for sm in alike)))
    return [*found, last]


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
