"""Which warps and which SMs do the same thing at the same time, so that one stands for all.

The cost of a prediction must follow the work's structure, not its size. Two exact
symmetries are used: warps of one role on schedulers that carry the same load, and SMs that
are given the same CTAs. Warps of a few CTAs that never meet are not kept together: each takes
its turn at memory as soon as its own data are there, so that one lane stands for one of them on
each scheduler. SMs that do without the last of their CTAs are simulated with those that run it;
the memory system knows how many want it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from gpusim.program import Compute, KernelProgram, Load, Op, Role, Store, TimeStamp, WaitLoads

__all__ = ["SmClass", "WarpGroup", "group_warps", "place_ctas"]

_MANY_CTAS = 6
"""On an SM, from which on warps that never meet are kept together all the same: their CTAs are out of step. The 268
recorded kernels without a barrier come out as far off as before (on average within 0.01 %)."""


@dataclass(frozen=True, slots=True, eq=False)
class WarpGroup:
    """Warps of ``role`` in one CTA slot that one simulated lane stands for; compared by identity.

    ``per_scheduler`` warps on each of the ``schedulers`` schedulers of class ``scheduler_class``.
    ``lane`` completes the CTA's name. ``in_step``: warps that do the same at the same time, these among them.
    ``last``: number of the last of them in its CTA. ``typical``: of groups that never meet, the middle one.
    ``loose``: whether the role's warps wait for their own loads only, at least from the second tile on; ``drifts``:
    whether they get out of step by it.
    """

    role: Role
    warps: int
    scheduler_class: int
    per_scheduler: int
    schedulers: int
    lane: str
    in_step: int
    last: int
    typical: bool = True
    loose: bool = False
    drifts: bool = False

    @property
    def elects(self) -> bool:
        """Whether the thread that acts for all of the role is one of them."""
        return self.lane == self.role.name


def group_warps(
    program: KernelProgram, slots: int, schedulers: int = 4, sms: int = 1
) -> tuple[list[list[WarpGroup]], int]:
    """The warp groups of each of ``slots`` CTAs of one of ``sms`` SMs, and how many classes of schedulers they need.

    Warps go round the schedulers. A CTA goes on where the one before it ended, and one further when that one
    filled all schedulers equally (realkernels.microbench placement).
    """
    # Many CTAs are out of step in any case.
    few = min(slots, -(-program.grid // sms)) < _MANY_CTAS
    drifts = [_drifts(role) for role in program.roles]
    never_meets = [_never_meets(role) for role in program.roles]
    apart = {number for number, role in enumerate(program.roles)
             if few and role.warps > schedulers and never_meets[number]}  # fmt: skip
    on_scheduler: list[Counter[tuple[int, int]]] = [Counter() for _ in range(schedulers)]
    numbers: dict[tuple[int, int, int], list[int]] = {}
    start = 0
    for slot in range(slots):
        warp = 0
        for number, role in enumerate(program.roles):
            for _ in range(role.warps):
                scheduler = (start + warp) % schedulers
                on_scheduler[scheduler][slot, number] += 1
                numbers.setdefault((slot, number, scheduler), []).append(warp)
                warp += 1
        start += program.warps + (program.warps % schedulers == 0)
    classes: dict[tuple, list[int]] = {}
    for scheduler, load in enumerate(on_scheduler):
        classes.setdefault(tuple(sorted(load.items())), []).append(scheduler)
    groups: list[list[WarpGroup]] = []
    for slot in range(slots):
        groups.append([])
        for number, role in enumerate(program.roles):
            loose = drifts[number] or never_meets[number]
            found: list[tuple[int, int, int, int, int]] = []
            for index, members in enumerate(classes.values()):
                count = on_scheduler[members[0]][slot, number]
                if count:
                    # One line for each turn round the schedulers.
                    turns = list(zip(*(numbers[slot, number, scheduler] for scheduler in members), strict=True))
                    if number in apart:
                        found += [(min(turn), max(turn), index, 1, len(members)) for turn in turns]
                    else:
                        found.append((min(turns[0]), max(turns[-1]), index, count, len(members)))
            for position, (lowest, last, index, count, members) in enumerate(sorted(found)):
                lane = role.name if position == 0 else f"{role.name}.warp[{lowest}]"
                in_step = count * members if number in apart else role.warps
                typical = number not in apart or position == len(found) // 2
                group = WarpGroup(
                    role, count * members, index, count, members, lane, in_step, last, typical, loose, drifts[number]
                )
                groups[slot].append(group)
    return groups, len(classes)


def _never_meets(role: Role) -> bool:
    """Whether its warps wait for nothing but their own loads."""
    return _only_own_loads(list(role.body(2)))


def _drifts(role: Role) -> bool:
    """Whether from its second tile on its warps wait for their own loads and for nothing else."""
    ops = list(role.body(2))[len(list(role.body(1))) :]
    return _only_own_loads(ops) and any(isinstance(op, Load) for op in ops)


def _only_own_loads(ops: Sequence[Op]) -> bool:
    return all(
        isinstance(op, Load | WaitLoads | Store | TimeStamp) or (isinstance(op, Compute) and op.reads is None)
        for op in ops
    )


@dataclass(frozen=True, slots=True)
class SmClass:
    """``multiplicity`` SMs that run the same list of CTAs, given as their tile counts in order."""

    sm: int
    multiplicity: int
    tiles: tuple[int, ...]
    parts: tuple[float, ...] = ()
    """Part of these SMs that run each of the last CTAs at all; who runs one of them has run those before it."""

    def part(self, left: int) -> float:
        """Part of the SMs that run the CTA behind which ``left`` others come."""
        return self.parts[-1 - left] if left < len(self.parts) else 1.0


def place_ctas(
    program: KernelProgram, sms: int, ctas_per_sm: int, taken: tuple[int, ...] | None = None
) -> list[SmClass]:
    """CTAs on SMs: one to each SM in turn until all are full, then wherever one has ended first.

    Tiles stand for time when CTAs differ. SMs without a CTA are left out. ``taken``: how many SMs take 0, 1, 2 … of the
    equal CTAs that are left after the last full wave (`gpusim.hardware.last_wave`); else they are dealt evenly.
    """
    if isinstance(program.tiles_per_cta, int):
        return _place_equal(program.grid, program.tiles_per_cta, sms, ctas_per_sm, taken)
    grid = program.grid
    lists: list[list[int]] = [[] for _ in range(sms)]
    slots = [(0, slot, sm) for slot in range(ctas_per_sm) for sm in range(sms)]
    heapify(slots)
    for cta in range(grid):
        busy_until, slot, sm = heappop(slots)
        tiles = program.tiles_of(cta)
        lists[sm].append(tiles)
        heappush(slots, (busy_until + tiles, slot, sm))
    by_work: dict[tuple[int, ...], list[int]] = {}
    for sm, tiles in enumerate(lists):
        if tiles:
            by_work.setdefault(tuple(tiles), []).append(sm)
    return [SmClass(members[0], len(members), tiles) for tiles, members in by_work.items()]


def _place_equal(grid: int, tiles: int, sms: int, ctas_per_sm: int, taken: tuple[int, ...] | None) -> list[SmClass]:
    """After full waves SMs differ only in the last: those that take most of it, and end last, stand for all.

    With several slots an SM takes its next CTA when any of them is free, which keeps the counts of equal CTAs within
    one of each other unless many are free at the same time.
    """
    before, left = divmod(grid, sms * ctas_per_sm)
    each, more = divmod(left, sms)
    if not before:
        found = [SmClass(0, more, (tiles,) * (each + 1)), SmClass(more, sms - more, (tiles,) * each)]
        return [sm for sm in found if sm.multiplicity and sm.tiles]
    if taken is None:
        taken = tuple({each: sms - more, each + 1: more}.get(count, 0) for count in range(ctas_per_sm + 1))
    parts = [sum(taken[count:]) / sms for count in range(1, len(taken)) if any(taken[count:])]
    return [SmClass(0, sms, (tiles,) * (before * ctas_per_sm + len(parts)), tuple(parts))]
