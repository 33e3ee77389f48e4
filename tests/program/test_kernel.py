"""What a kernel program says about its tiles."""

from dataclasses import replace

import pytest

from gpusim.program import KernelProgram, Role, SyncThreads


@pytest.fixture
def program():
    """Three CTAs of four tiles each, of one role that meets once a tile."""
    role = Role("all", 4, lambda tiles: (SyncThreads(tile=tile) for tile in range(tiles)))
    return KernelProgram("demo", grid=3, tiles_per_cta=4, roles=(role,))


def test_equal_tiles_are_one_number(program):
    """Stated once for all CTAs."""
    assert (program.equal_tiles, program.fewest_tiles, program.most_tiles, program.total_tiles) == (4, 4, 4, 12)
    assert program.shortened(1).tiles_per_cta == 3
    assert program.repeated(2).tiles_per_cta == 8


def test_unequal_tiles_are_one_number_for_each_cta(program):
    """The same questions, and none of them has one answer for all."""
    program = program.resized(tiles_per_cta=(4, 2, 1))
    assert (program.equal_tiles, program.fewest_tiles, program.most_tiles, program.total_tiles) == (None, 1, 4, 7)
    assert program.shortened(1).tiles_per_cta == (3, 1, 0)
    assert program.repeated(2).tiles_per_cta == (8, 4, 2)


@pytest.mark.parametrize(("turn", "tiles"), [(1, 2), (2, 2), (6, 6)])
def test_a_sample_is_a_turn_or_two_tiles(program, turn, tiles):
    """Two tiles at least, since the first may be another than the rest."""
    program = replace(program, turn=turn)
    assert [op.tile for op in program.sample(program.roles[0])] == list(range(tiles))
