"""What one simulated lane stands for."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.hardware.folding.warp_groups import group_warps
from gpusim.program import Compute, KernelProgram, Load, Mix, Role, Store, SyncThreads
from tests.tile_programs import kernel

RECORDED = Path(__file__).parents[2] / "realkernels/microbench/recorded/h200_sxm/placement.json"
PLACEMENTS = json.loads(RECORDED.read_text(encoding="utf-8"))["rows"]


def program(*warps, grid=1, tiles=1):
    """Roles a, b, … with so many warps each, which meet."""
    roles = tuple(
        Role(name, count, lambda _tiles: (SyncThreads(),)) for name, count in zip("abcdefgh", warps, strict=False)
    )
    return KernelProgram("test", grid, tiles, roles)


def loads(groups, slots):
    """For each scheduler the number of warps of each CTA, as a sorted list."""
    classes = {}
    for slot, found in enumerate(groups):
        for group in found:
            members, load = classes.setdefault(group.scheduler_class, (group.schedulers, [0] * slots))
            assert members == group.schedulers
            load[slot] += group.per_scheduler
    schedulers = [tuple(load) for members, load in classes.values() for _ in range(members)]
    return sorted([(0,) * slots] * (4 - len(schedulers)) + schedulers)


@pytest.mark.parametrize("row", PLACEMENTS, ids=lambda row: f"{row['ctas_per_sm']}x{row['warps']}")
def test_warps_share_schedulers_as_recorded(row):
    """Which CTAs' warps meet on a scheduler; schedulers have no names that matter."""
    slots = row["ctas_per_sm"]
    recorded = [[0] * slots for _ in range(4)]
    for slot, places in enumerate(row["slots"]):
        for place in places:
            recorded[place % 4][slot] += 1
    groups, _ = group_warps(program(row["warps"]), slots)
    assert loads(groups, slots) == sorted(map(tuple, recorded))


def test_four_warps_are_one_group():
    """One warp on each of the four schedulers, all alike."""
    (groups,), classes = group_warps(program(4), 1)
    assert classes == 1
    (group,) = groups
    assert (group.warps, group.per_scheduler, group.schedulers, group.lane) == (4, 1, 4, "a")


def test_fifth_warp_makes_one_scheduler_different():
    """2 warps on one scheduler, 1 on each of the other three."""
    (groups,), classes = group_warps(program(5), 1)
    assert classes == 2
    assert sorted((g.per_scheduler, g.schedulers, g.warps) for g in groups) == [(1, 3, 3), (2, 1, 2)]


def test_warps_that_never_meet_are_apart():
    """12 warps that load and compute: three lanes of a warp per scheduler; with a barrier they are one."""
    ops = Load(4096), Compute(Mix(ffma=8)), Store(4096)
    free = KernelProgram("test", 1, 1, (Role("a", 12, lambda _tiles: ops),))
    (groups,), classes = group_warps(free, 1)
    assert classes == 1
    assert [(g.per_scheduler, g.warps, g.lane) for g in groups] == [
        (1, 4, "a"), (1, 4, "a.warp[4]"), (1, 4, "a.warp[8]")
    ]  # fmt: skip
    bound = KernelProgram("test", 1, 1, (Role("a", 12, lambda _tiles: (*ops, SyncThreads())),))
    assert [len(groups) for groups in group_warps(bound, 1)[0]] == [1]


def test_warps_drift_where_each_waits_for_its_own_loads_only():
    """Not those that meet in each tile, nor those that load nothing and so stay as they began.

    What stands before and behind the tiles does not matter, however long it is.
    """
    load, loop, meet = Load(512), Compute(Mix(lds=4, ffma=16)), SyncThreads()
    cases = product((((load, loop), True), ((load, loop, meet), False), ((loop,), False)), ((), (loop,) * 7, (meet,)))
    for (ops, drifts), epilogue in cases:
        role = Role("worker", 8, lambda tiles, ops=ops, last=epilogue: iter((meet, *ops * tiles, *last)))
        groups, _ = group_warps(kernel(role, grid=8 * 132), 8)
        assert {group.drifts for slot in groups for group in slot} == {drifts}


def test_consumers_beside_the_producer_are_told_apart():
    """Producer on scheduler 0, four consumers on 1, 2, 3, 0: the last shares its scheduler with the producer."""
    (groups,), classes = group_warps(program(1, 4), 1)
    assert classes == 2
    shared = {g.role.name for g in groups if g.scheduler_class == groups[0].scheduler_class}
    assert shared == {"a", "b"}
    assert [g.warps for g in groups if g.role.name == "b"] == [3, 1]


def test_idle_warps_take_their_turn():
    """Three idle warps after one of work: the next CTA begins one scheduler on, as after any four warps."""
    groups, _ = group_warps(KernelProgram("test", 1, 1, (Role("a", 1, lambda _tiles: ()),), idle_warps=3), 2)
    assert loads(groups, 2) == [(0, 0), (0, 0), (0, 1), (1, 0)]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 6))
def test_groups_stand_for_every_warp_once(warps, slots):
    """Per role and CTA the groups' warps add up, and lanes have names of their own."""
    groups, classes = group_warps(program(*warps), slots)
    for found in groups:
        counted = Counter()
        for group in found:
            assert group.warps == group.per_scheduler * group.schedulers
            assert 0 <= group.scheduler_class < classes
            counted[group.role.name] += group.warps
        assert counted == dict(zip("abcdefgh", warps, strict=False))
        assert len({group.lane for group in found}) == len(found)


def test_warps_of_which_some_do_more_are_told_apart():
    """Of eight warps one computes a sum, two a table; the lane of the first is that of the elected thread."""
    ops = Compute(Mix(setup=9), warps=1), Compute(Mix(setup=5), warps=2), SyncThreads()
    (groups,), classes = group_warps(KernelProgram("test", 1, 1, (Role("a", 8, lambda _tiles: ops),)), 1)
    assert sorted((g.first, g.warps, g.in_step) for g in groups) == [
        (0, 1, 1),
        (1, 1, 2),
        (2, 1, 8),
        (2, 1, 8),
        (2, 4, 8),
    ]
    assert classes == 3
    assert [(g.lane, g.elects) for g in groups if g.first == 0] == [("a", True)]
    assert sum(g.elects for g in groups) == 1
