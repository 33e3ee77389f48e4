"""What one simulated lane or SM stands for."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.hardware.fold import group_warps, place_ctas
from gpusim.hardware.last_wave import deal_left_over
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


class TestSms:
    """CTAs on SMs."""

    def test_full_waves_make_one_class(self):
        """264 CTAs on 132 SMs: two each."""
        (found,) = place_ctas(program(4, grid=264, tiles=7), 132, 2)
        assert (found.multiplicity, found.tiles) == (132, (7, 7))

    def test_rest_of_a_wave_is_run_by_some_only(self):
        """300 = 2 × 132 + 36: 36 SMs run three CTAs."""
        (found,) = place_ctas(program(4, grid=300), 132, 2)
        assert (found.sm, found.multiplicity, len(found.tiles), found.parts) == (0, 132, 3, (36 / 132,))

    def test_less_than_a_wave_makes_two_classes(self):
        """200 = 132 + 68, two to an SM."""
        more, fewer = place_ctas(program(4, grid=200), 132, 2)
        assert (more.sm, more.multiplicity, len(more.tiles)) == (0, 68, 2)
        assert (fewer.sm, fewer.multiplicity, len(fewer.tiles)) == (68, 64, 1)

    def test_sms_without_a_cta_are_left_out(self):
        """100 CTAs on 132 SMs."""
        (found,) = place_ctas(program(4, grid=100), 132, 2)
        assert found.multiplicity == 100

    def test_unequal_ctas_go_where_one_has_ended_first(self):
        """Tiles 9, 1, 1, 1 on two SMs with one slot: the long one alone, the three short ones in turn."""
        found = place_ctas(program(4, grid=4, tiles=(9, 1, 1, 1)), 2, 1)
        assert sorted(sm.tiles for sm in found) == [(1, 1, 1), (9,)]

    def test_a_cta_takes_time_besides_its_tiles(self):
        """Two tiles, then none, none and one on two SMs: who has none is as good as done unless it takes time, too."""
        tiles = program(4, grid=5, tiles=(2, 0, 0, 1, 1))
        assert sorted(sm.tiles for sm in place_ctas(tiles, 2, 1)) == [(0, 0, 1, 1), (2,)]
        assert sorted(sm.tiles for sm in place_ctas(tiles, 2, 1, beside=2.0)) == [(0, 0, 1), (2, 1)]

    def test_a_few_sms_stand_for_many_that_have_as_much_to_do(self):
        """132 SMs with 1 to 132 tiles each: the one with most for itself, the others in groups of twelve or eleven."""
        tiles = program(4, grid=132, tiles=tuple(range(1, 133)))
        found = place_ctas(tiles, 132, 1, most=12)
        assert len(found) == 12
        assert sum(sm.multiplicity for sm in found) == 132
        assert (found[-1].multiplicity, found[-1].tiles) == (1, (132,))
        assert sum(sm.multiplicity * sum(sm.tiles) for sm in found) == pytest.approx(tiles.total_tiles, rel=0.01)

    def test_equal_lists_are_folded(self):
        """Six CTAs of 2 and 4 tiles in turn on three SMs with two slots: each gets one CTA of each slot."""
        found = place_ctas(program(4, grid=6, tiles=(2, 2, 2, 4, 4, 4)), 3, 2)
        assert [(sm.multiplicity, sm.tiles) for sm in found] == [(3, (2, 4))]

    @given(st.lists(st.integers(1, 20), min_size=1, max_size=60), st.integers(1, 9), st.integers(1, 4))
    def test_every_cta_is_placed_once(self, tiles, sms, slots):
        """The lists hold exactly the given tile counts; SM numbers do not repeat."""
        found = place_ctas(program(4, grid=len(tiles), tiles=tuple(tiles)), sms, slots)
        placed = Counter()
        for sm in found:
            for count in sm.tiles:
                placed[count] += sm.multiplicity
        assert placed == Counter(tiles)
        assert sum(sm.multiplicity for sm in found) == min(sms, len(tiles))

    def test_those_left_over_go_where_they_are_taken(self):
        """401 on 132 SMs with two slots: of the last 137, 68 SMs take two each and one takes one."""
        (found,) = place_ctas(program(4, grid=401), 132, 2, dealt=(63, 1, 68))
        assert (found.multiplicity, len(found.tiles), found.parts) == (132, 4, (69 / 132, 68 / 132))
        assert [found.part(left) for left in range(4)] == [68 / 132, 69 / 132, 1.0, 1.0]

    @given(st.integers(1, 2000), st.integers(1, 150), st.integers(1, 8), st.floats(0, 3), st.booleans())
    def test_equal_ctas_are_conserved(self, grid, sms, slots, spread, evenly):
        """Whatever the remainder, and however far apart SMs are when they take it."""
        found = place_ctas(
            program(4, grid=grid),
            sms,
            slots,
            None if evenly else deal_left_over(range(slots), spread, grid % (sms * slots), sms),
        )
        placed = sum(sm.multiplicity * sum(sm.part(left) for left in range(len(sm.tiles))) for sm in found)
        assert placed == pytest.approx(grid)
        assert sum(sm.multiplicity for sm in found) <= sms
