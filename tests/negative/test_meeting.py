"""Barriers at which not everybody meets: the message names who is missing, not who is there."""

import pytest

from gpusim.deadlock import Deadlock
from gpusim.scenario import loads, predict

KERNEL = """
question: Do all meet?
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 4
  roles:
    a: {{warps: 2, per_tile: [{{compute: {{ffma: 4}}}}, {meeting}]}}
    b: {{warps: 2, per_tile: [{other}]}}
"""


def said(meeting: str, other: str = "{compute: {ffma: 4}}") -> str:
    with pytest.raises(Deadlock) as error:
        predict(loads(KERNEL.format(meeting=meeting, other=other)))
    return str(error.value)


def test_block_barrier_in_one_of_two_roles():
    """The other role ended without it; warps of one role are named once."""
    text = said("sync_threads")
    assert ":8:52: kernel.roles.a.per_tile.1.sync_threads: deadlock" in text
    assert "could be satisfied by sm[0].cta[0].b;" in text
    assert (
        "sync_threads is for all warps: put it in role 'b' as well, or let the others meet at a named_barrier" in text
    )
    assert "cycle" not in text


def test_block_barrier_more_often_in_one_of_two_roles():
    """Both come to it; who never gets there has fewer."""
    text = said("sync_threads, sync_threads", "sync_threads")
    assert "kernel.roles.a: deadlock" in text
    assert "sync_threads is for all warps, and how often they come to it in 2 tiles differs: 'a' 4, 'b' 2" in text


def test_named_barrier_for_more_warps_than_come_to_it():
    """All of them wait at it."""
    text = said("{named_barrier: {id: 1, warps: 3}}")
    assert "2 of 3 arrivals" in text
    assert "all that come to it are there, and it asks for more of them" in text
    assert "cycle" not in text
