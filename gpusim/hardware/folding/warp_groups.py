"""Which warps of a CTA do the same thing at the same time, so that one simulated lane stands for all of them.

The cost of a prediction must follow the work's structure, not its size. Warps of one role on schedulers that carry the
same load are alike. Not so those of which only some execute an op, nor warpgroups that multiply on the tensor cores in
turn, nor warps of a few CTAs that do not meet from one tile to the next: each of these takes its turn at memory as soon
as its own data are there, so that one lane stands for one of them on each scheduler.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpusim.program import (
    Atomic,
    CommitGroup,
    Compute,
    CpAsync,
    KernelProgram,
    Load,
    Op,
    PartOfRole,
    Role,
    Store,
    TimeStamp,
    WaitGroup,
    WaitLoads,
    Wgmma,
)

__all__ = ["WarpGroup", "group_warps"]

_MANY_CTAS = 6
"""CTAs on an SM from which on warps that never meet are kept together all the same: the CTAs are out of step, which
moves warps apart as well, and each group less is quicker to simulate."""


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
    """Warps of the role that do the same at the same time, these among them."""
    last: int
    """Number in its CTA of the last of them."""
    first: int = 0
    """Number in its role of the first warp that executes the same ops."""
    typical: bool = True
    """Whether its timing stands for the whole role; of groups that get out of step only the middle one's does."""
    loose: bool = False
    """Whether the role's warps wait for their own loads only, at least from the second tile on."""
    drifts: bool = False
    """Whether the role's warps get out of step because of that (`loose`)."""
    apart: int = 0
    """Number of this group among those of its role that get out of step; gives its loads a lateness of their own."""

    @property
    def elects(self) -> bool:
        """Whether the thread that acts for all of the role is one of them."""
        return self.lane == self.role.name


class _Place(NamedTuple):
    """Where one group of warps of a role and CTA is; in the order of the numbers that warps have in their CTA."""

    part: int
    """Which of the parts of a role whose warps do not all execute the same."""
    lowest: int
    """Number of its first warp."""
    last: int
    """Number of its last warp."""
    scheduler_class: int
    per_scheduler: int
    """Warps on each scheduler."""
    schedulers: int
    """Schedulers of the class."""


_Load = dict[tuple[int, int, int], list[int]]
"""Warps of one scheduler: their numbers in their CTA, by slot of the CTA, number of the role and part of it."""


def group_warps(
    program: KernelProgram, slots: int, schedulers: int = 4, sms: int = 1
) -> tuple[list[list[WarpGroup]], int]:
    """The warp groups of each of ``slots`` CTAs of one of ``sms`` SMs, and how many classes of schedulers they need.

    Warps go round the schedulers. A CTA goes on where the one before it ended, and one further when that one
    filled all schedulers equally (realkernels.microbench placement).
    """
    # Many CTAs are out of step in any case.
    few = min(slots, -(-program.grid // sms)) < _MANY_CTAS
    parts = [_parts(program, role) for role in program.roles]
    classes = _alike(_deal_warps(program, parts, slots, schedulers))
    groups: list[list[WarpGroup]] = [[] for _ in range(slots)]
    for number, role in enumerate(program.roles):
        drifts, never_meets = _drifts(program, role), _never_meets(program, role)
        apart = role.warps > schedulers and (_multiplies(program, role) or (few and (never_meets or drifts)))
        for slot in range(slots):
            places: list[_Place] = []
            for part in range(len(parts[number])):
                loads = [[load.get((slot, number, part), []) for load in alike] for alike in classes]
                places += _places(loads, part, apart)
            groups[slot] += _groups(role, parts[number], places, apart, drifts or never_meets, drifts)
    return groups, len(classes)


def _parts(program: KernelProgram, role: Role) -> list[int]:
    """Numbers in ``role`` of the first warp of each of its parts, whose warps all execute the same ops."""
    some = (op.warps for op in program.sample(role) if isinstance(op, PartOfRole))
    return sorted({0, *(warps for warps in some if warps is not None and warps < role.warps)})


def _deal_warps(program: KernelProgram, parts: Sequence[Sequence[int]], slots: int, schedulers: int) -> list[_Load]:
    """Which warps of ``slots`` CTAs each scheduler gets; ``parts`` of each role as in `_parts`."""
    loads: list[_Load] = [{} for _ in range(schedulers)]
    start = 0
    for slot in range(slots):
        warp = 0
        for number, role in enumerate(program.roles):
            for place in range(role.warps):
                key = slot, number, bisect_right(parts[number], place) - 1
                loads[(start + warp) % schedulers].setdefault(key, []).append(warp)
                warp += 1
        start += program.warps + (program.warps % schedulers == 0)
    return loads


def _alike(loads: Sequence[_Load]) -> list[list[_Load]]:
    """The schedulers by class: those of one have as many warps of each CTA, role and part."""
    classes: dict[tuple, list[_Load]] = {}
    for load in loads:
        counts = sorted((place, len(warps)) for place, warps in load.items())
        classes.setdefault(tuple(counts), []).append(load)
    return list(classes.values())


def _places(classes: Sequence[Sequence[list[int]]], part: int, apart: bool) -> list[_Place]:
    """Where the warps of a ``part`` of a role and CTA are, whose numbers are given by class and scheduler.

    ``apart``: each turn round the schedulers is a group of its own.
    """
    places: list[_Place] = []
    for index, members in enumerate(classes):
        turns = list(zip(*members, strict=True))
        if apart:
            places += [_Place(part, min(turn), max(turn), index, 1, len(members)) for turn in turns]
        elif turns:
            places.append(_Place(part, min(turns[0]), max(turns[-1]), index, len(turns), len(members)))
    return sorted(places)


def _groups(
    role: Role, parts: Sequence[int], places: Sequence[_Place], apart: bool, loose: bool, drifts: bool
) -> list[WarpGroup]:
    ends = [*parts[1:], role.warps]
    return [
        WarpGroup(
            role=role,
            warps=place.per_scheduler * place.schedulers,
            scheduler_class=place.scheduler_class,
            per_scheduler=place.per_scheduler,
            schedulers=place.schedulers,
            lane=role.name if position == 0 else f"{role.name}.warp[{place.lowest}]",
            in_step=place.per_scheduler * place.schedulers if apart else ends[place.part],
            last=place.last,
            first=parts[place.part],
            typical=not apart or position == len(places) // 2,
            loose=loose,
            drifts=drifts,
            apart=position if apart else 0,
        )
        for position, place in enumerate(places)
    ]


def _multiplies(program: KernelProgram, role: Role) -> bool:
    """Whether its warpgroups share the tensor cores: those of one compute while another waits for its results."""
    return any(isinstance(op, Wgmma) for op in program.sample(role))


def _never_meets(program: KernelProgram, role: Role) -> bool:
    """Whether its warps wait for nothing but their own loads."""
    return _only_own_loads(program, list(role.body(program.head + 2 + program.tail)))


def _drifts(program: KernelProgram, role: Role) -> bool:
    """Whether from one of its tiles to the next its warps wait for their own loads and for nothing else."""
    whole = program.head + program.tail
    once, twice = (len(list(role.body(whole + tiles))) for tiles in (1, 2))
    tile = max(twice - once, 1)
    # What stands before and behind all tiles takes no more than `once`: with enough of them these are a tile's.
    ops = list(role.body(whole + 2 + -(-once // tile)))[once : once + tile]
    return _only_own_loads(program, ops) and any(isinstance(op, Load | CpAsync) for op in ops)


def _only_own_loads(program: KernelProgram, ops: Sequence[Op]) -> bool:
    own = {None, *(ring.name for ring in program.rings if ring.private)}
    return all(
        isinstance(op, Load | WaitLoads | Store | Atomic | TimeStamp | CommitGroup | WaitGroup)
        or (isinstance(op, CpAsync) and op.ring in own)
        or (isinstance(op, Compute) and op.reads in own)
        for op in ops
    )
