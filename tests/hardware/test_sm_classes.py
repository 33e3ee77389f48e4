"""What one simulated SM stands for."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.hardware.folding.sm_classes import place_ctas
from gpusim.hardware.launch.last_wave import deal_left_over
from gpusim.program import KernelProgram, Role, SyncThreads


def program(warps, grid=1, tiles=1):
    """CTAs of so many warps, which meet."""
    return KernelProgram("test", grid, tiles, (Role("a", warps, lambda _tiles: (SyncThreads(),)),))


def test_full_waves_make_one_class():
    """264 CTAs on 132 SMs: two each."""
    (found,) = place_ctas(program(4, grid=264, tiles=7), 132, 2)
    assert (found.multiplicity, found.tiles) == (132, (7, 7))


def test_rest_of_a_wave_is_run_by_some_only():
    """300 = 2 × 132 + 36: 36 SMs run three CTAs."""
    (found,) = place_ctas(program(4, grid=300), 132, 2)
    assert (found.sm, found.multiplicity, len(found.tiles), found.parts) == (0, 132, 3, (36 / 132,))


def test_less_than_a_wave_makes_two_classes():
    """200 = 132 + 68, two to an SM."""
    more, fewer = place_ctas(program(4, grid=200), 132, 2)
    assert (more.sm, more.multiplicity, len(more.tiles)) == (0, 68, 2)
    assert (fewer.sm, fewer.multiplicity, len(fewer.tiles)) == (68, 64, 1)


def test_sms_without_a_cta_are_left_out():
    """100 CTAs on 132 SMs."""
    (found,) = place_ctas(program(4, grid=100), 132, 2)
    assert found.multiplicity == 100


def test_unequal_ctas_go_where_one_has_ended_first():
    """Tiles 9, 1, 1, 1 on two SMs with one slot: the long one alone, the three short ones in turn."""
    found = place_ctas(program(4, grid=4, tiles=(9, 1, 1, 1)), 2, 1)
    assert sorted(sm.tiles for sm in found) == [(1, 1, 1), (9,)]


def test_a_cta_takes_time_besides_its_tiles():
    """Two tiles, then none, none and one on two SMs: who has none is as good as done unless it takes time, too."""
    tiles = program(4, grid=5, tiles=(2, 0, 0, 1, 1))
    assert sorted(sm.tiles for sm in place_ctas(tiles, 2, 1)) == [(0, 0, 1, 1), (2,)]
    assert sorted(sm.tiles for sm in place_ctas(tiles, 2, 1, beside=2.0)) == [(0, 0, 1), (2, 1)]


def test_a_few_sms_stand_for_many_that_have_as_much_to_do():
    """132 SMs with 1 to 132 tiles each: the one with most for itself, the others in groups of twelve or eleven."""
    tiles = program(4, grid=132, tiles=tuple(range(1, 133)))
    found = place_ctas(tiles, 132, 1, most=12)
    assert len(found) == 12
    assert sum(sm.multiplicity for sm in found) == 132
    assert (found[-1].multiplicity, found[-1].tiles) == (1, (132,))
    assert sum(sm.multiplicity * sum(sm.tiles) for sm in found) == pytest.approx(tiles.total_tiles, rel=0.01)


def test_equal_lists_are_folded():
    """Six CTAs of 2 and 4 tiles in turn on three SMs with two slots: each gets one CTA of each slot."""
    found = place_ctas(program(4, grid=6, tiles=(2, 2, 2, 4, 4, 4)), 3, 2)
    assert [(sm.multiplicity, sm.tiles) for sm in found] == [(3, (2, 4))]


@given(st.lists(st.integers(1, 20), min_size=1, max_size=60), st.integers(1, 9), st.integers(1, 4))
def test_every_cta_is_placed_once(tiles, sms, slots):
    """The lists hold exactly the given tile counts; SM numbers do not repeat."""
    found = place_ctas(program(4, grid=len(tiles), tiles=tuple(tiles)), sms, slots)
    placed = Counter()
    for sm in found:
        for count in sm.tiles:
            placed[count] += sm.multiplicity
    assert placed == Counter(tiles)
    assert sum(sm.multiplicity for sm in found) == min(sms, len(tiles))


def test_those_left_over_go_where_they_are_taken():
    """401 on 132 SMs with two slots: of the last 137, 68 SMs take two each and one takes one."""
    (found,) = place_ctas(program(4, grid=401), 132, 2, dealt=(63, 1, 68))
    assert (found.multiplicity, len(found.tiles), found.parts) == (132, 4, (69 / 132, 68 / 132))
    assert [found.part(left) for left in range(4)] == [68 / 132, 69 / 132, 1.0, 1.0]


@given(st.integers(1, 2000), st.integers(1, 150), st.integers(1, 8), st.floats(0, 3), st.booleans())
def test_equal_ctas_are_conserved(grid, sms, slots, spread, evenly):
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
