"""Barriers at which not everybody meets: the message names who is missing, not who is there."""

import pytest

from gpusim.deadlock import Deadlock
from gpusim.errors import HazardError
from gpusim.scenario import loads, predict

KERNEL = """
question: Do all meet?
device: textbook
kernel:
  grid: 1
  tiles_per_cta: {tiles}
  cluster: {cluster}
  roles:
    a: {{warps: {warps}, per_tile: [{{compute: {{ffma: 4}}}}, {meeting}], epilogue: [{last}]}}
    b: {{warps: 2, per_tile: [{other}]}}
"""
COMPUTE = "{compute: {ffma: 4}}"
LONG = "{compute: {ffma: 4000}}"


def scenario(
    meeting: str, other: str = COMPUTE, *, last: str = COMPUTE, tiles: int = 4, cluster: int = 1, warps: int = 2
):
    text = KERNEL.format(meeting=meeting, other=other, last=last, tiles=tiles, cluster=cluster, warps=warps)
    return loads(text.replace("grid: 1", f"grid: {cluster}"))


def said(*args: str, kind: type[Exception] = HazardError, **more: int) -> str:
    with pytest.raises(kind) as error:
        predict(scenario(*args, **more))
    return str(error.value)


def test_block_barrier_in_one_of_two_roles():
    """Told before anything runs, with the line of the barrier."""
    assert said("sync_threads") == (
        "scenario:9:52: kernel.roles.a.per_tile.1.sync_threads: a at tile 0: sync_threads is for all warps of the CTA, "
        "and role 'b' (2 warps) does not come to it; put sync_threads in role 'b' (2 warps) as well, "
        "or let role 'a' (2 warps) meet at named_barrier: {id: 1, warps: 2}"
    )


def test_block_barrier_more_often_in_one_of_two_roles():
    """Both come to it; that of two which the other has not is the second."""
    text = said("sync_threads, sync_threads", "sync_threads, {named_barrier: {id: 1, warps: 2}}")
    assert "kernel.roles.a.per_tile.2.sync_threads: a at tile 0:" in text
    assert "role 'b' (2 warps) comes to it only once, role 'a' 2 times" in text
    assert "named_barrier: {id: 2, warps: 2}" in text


@pytest.mark.parametrize(
    ("often", "told"),
    [
        (
            "every: 2",
            "a at tile 1: sync_threads is for all warps of the CTA, and role 'b' (2 warps) comes to it only once",
        ),
        ("every: 2, offset: 1", "comes to it only once in tiles 0 to 1, role 'a' 2 times"),
        (
            "skip_first: 1",
            "a at tile 0: sync_threads is for all warps of the CTA, and role 'b' (2 warps) does not",
        ),
    ],
)
def test_block_barrier_not_in_every_tile_of_one_role(often, told):
    """Told at the first tile in which it is left out, in long runs too."""
    assert told in said("sync_threads", f"{COMPUTE}, {{sync_threads: {{{often}}}}}", tiles=1000)


@pytest.mark.parametrize(
    ("meeting", "other"),
    [
        ("{sync_threads: {every: 2}}", "{sync_threads: {every: 2, offset: 1}}"),
        ("{repeat: {times: 2, ops: [sync_threads]}}", "sync_threads, sync_threads"),
        ("{sync_threads: {skip_first: 1}}", "{sync_threads: {skip_last: 1}}"),
        ("{sync_threads: {warps: 2}}", "sync_threads"),
        ("sync_threads", "{sync_threads: {skip_last: 1}}"),
    ],
)
@pytest.mark.parametrize("tiles", [100, 101])
def test_as_often_is_enough(meeting, other, tiles):
    """The device counts who comes, not from where; in its last tile a role ends instead."""
    assert predict(scenario(meeting, f"{COMPUTE}, {other}", tiles=tiles)).total_s > 0.0


def test_warps_that_have_ended_are_not_waited_for():
    """A barrier behind the last tile of another role; it waits for as long as that has something to do."""
    soon, late = (predict(scenario(COMPUTE, other, last="sync_threads")).total_s for other in (COMPUTE, LONG))
    assert late > 100 * soon
    alone = predict(scenario(COMPUTE, LONG)).total_s
    assert late == pytest.approx(alone, rel=0.01)


def test_part_of_a_role():
    """A branch keeps some warps from it: which, at which line, and what to do instead."""
    text = said("{sync_threads: {warps: 3}}", "sync_threads", warps=8)
    assert "warps 3 to 7 of role 'a' never come to it; give the first 3 a role of their own, which meets at " in text
    assert text.endswith("named_barrier: {id: 1, warps: 3}")


def test_one_warp_of_a_role():
    """Has nobody to meet."""
    text = said("{sync_threads: {warps: 1}}", "sync_threads")
    assert text == (
        "scenario:9:53: kernel.roles.a.per_tile.1.sync_threads: a at tile 0: sync_threads is for all warps of the CTA, "
        "and warp 1 of role 'a' never comes to it; leave it out: one warp alone has nobody to meet"
    )


def test_more_warps_than_the_role_has():
    """Refused where it stands."""
    with pytest.raises(ValueError, match=r"sync_threads\.warps: is 3, the role has 2 \(allowed: at most 2\)"):
        scenario("{sync_threads: {warps: 3}}")


def test_cluster_barrier_in_one_of_two_roles():
    """There is no named barrier of clusters."""
    text = said("cluster_sync", cluster=2)
    assert text.endswith(
        "a at tile 0: cluster_sync is for all warps of the CTA, and role 'b' (2 warps) does not come to it; "
        "put cluster_sync in role 'b' (2 warps) as well"
    )


def test_named_barrier_for_more_warps_than_come_to_it():
    """All of them wait at it."""
    text = said("{named_barrier: {id: 1, warps: 3}}", kind=Deadlock)
    assert "2 of 3 arrivals" in text
    assert "all that come to it are there, and it asks for more of them" in text
    assert "cycle" not in text


def test_barrier_of_a_role_of_one_warp_that_others_miss():
    """It needs no named barrier."""
    assert "or leave it out in role 'a' (1 warp)" in said("sync_threads", warps=1)
