"""What a kernel program says about its tiles."""

from dataclasses import replace

import pytest

from gpusim.errors import ProgramError
from gpusim.program import KernelProgram, NamedBarrier, Role, SyncThreads, check_program


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


def test_roles_that_meet_at_a_named_barrier_agree():
    """One says that two warps meet there, the other four: the device would hang, or go on too soon."""

    def met_by(name, *warps):
        return Role(name, 2, lambda _tiles: iter(NamedBarrier(1, each) for each in warps))

    check_program(KernelProgram("ok", 1, 1, (met_by("a", 4, 2), met_by("b", 4))))
    with pytest.raises(ProgramError, match=r"named barrier 1 is met by 2 warps in role 'a' and by 4 in role 'b'"):
        check_program(KernelProgram("wrong", 1, 1, (met_by("a", 2), met_by("b", 4))))
