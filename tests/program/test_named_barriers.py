"""Named barriers: counts on which roles agree, and that come out; whom they let pass."""

from __future__ import annotations

import pytest

from gpusim.errors import ProgramError
from gpusim.program import KernelProgram, NamedBarrier, Role, check_program
from gpusim.scenario import loads, predict

MEET = """
question: Who meets whom?
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: TILES
  roles:
    a: {warps: 4, PROLOGUE per_tile: [{compute: {ffma: 64}}, {named_barrier: {id: ID, warps: COUNT}}]}
    b: {warps: 4, PROLOGUE per_tile: [{compute: {ffma: 64}}MORE]}
"""


def meeting(number: int, count: int, tiles: int = 40, more: str = "", prologue: str = ""):
    """Two roles, the first of which meets at a barrier."""
    text = MEET.replace("ID", str(number)).replace("COUNT", str(count)).replace("TILES", str(tiles))
    return loads(text.replace("MORE", more).replace("PROLOGUE", prologue))


@pytest.mark.parametrize(
    ("more", "count", "who"),
    [
        ("", 4, ""),
        ("", 2, "lets any 2 warps of role 'a' (4 warps) pass; state warps: 4"),
        (", {named_barrier: {id: 1, warps: 8}}", 8, ""),
        (
            ", {named_barrier: {id: 1, warps: 4}}",
            4,
            "lets any 4 warps of roles 'a', 'b' (8 warps) pass; state warps: 8",
        ),
        (", {named_barrier: {id: 2, warps: 4}}", 4, ""),
        (", {named_barrier: {id: 1, warps: 4, wait: false}}", 4, ""),
    ],
)
def test_named_barriers_that_fewer_pass_than_come(more, count, who):
    """Any of them, and not those who are meant; arrivals that go on may be several a turn."""
    told = meeting(1, count, more=more).doubts()
    assert len(told) == bool(who)
    assert who in "".join(told)


@pytest.mark.parametrize(("tiles", "left"), [(40, 1), (41, 2), (2000, 2), (42, 0)])
def test_named_barriers_at_which_the_last_wait_for_ever(tiles, left):
    """Three of four warps: whoever is left over when all tiles are done, of however many."""
    scenario = meeting(1, 3, tiles)
    if not left:
        assert "any 3 warps" in "".join(scenario.doubts())
        return
    came = f"{4 * tiles:,}"
    with pytest.raises(
        ProgramError, match=rf"barrier 1 lets 3 .* {came} come, of role 'a' .4 warps.: {left} would wait"
    ):
        predict(scenario, trace=False)


def test_named_barrier_0_is_that_of_all():
    """Who is at ``sync_threads`` is counted there, unless all have been there before."""
    sync = ", sync_threads"
    told = loads(MEET.replace("TILES", "4").replace("ID", "0").replace("COUNT", "4}}, sync_threads, {compute: {ffma: 4")
                 .replace("MORE", sync).replace("PROLOGUE", "")).doubts()  # fmt: skip
    assert len(told) == 1
    assert told[0].startswith(
        "named barrier 0 of role 'a' (4 warps) is that of sync_threads as well, at which all others"
    )
    assert meeting(0, 4, prologue="prologue: [sync_threads],").doubts() == ()
    assert meeting(0, 4).doubts() == ()


def test_roles_that_meet_at_a_named_barrier_agree():
    """One says that two warps meet there, the other four: the device would hang, or go on too soon."""

    def met_by(name, *warps):
        return Role(name, 2, lambda _tiles: iter(NamedBarrier(1, each) for each in warps))

    check_program(KernelProgram("ok", 1, 1, (met_by("a", 4, 2), met_by("b", 4))))
    with pytest.raises(ProgramError, match=r"named barrier 1 is met by 2 warps in role 'a' and by 4 in role 'b'"):
        check_program(KernelProgram("wrong", 1, 1, (met_by("a", 2), met_by("b", 4))))
