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
    b: {{warps: 2, per_tile: [{{compute: {{ffma: 4}}}}]}}
"""


def said(meeting: str) -> str:
    with pytest.raises(Deadlock) as error:
        predict(loads(KERNEL.format(meeting=meeting)))
    return str(error.value)


def test_block_barrier_in_one_of_two_roles():
    """The other role ended without it."""
    text = said("sync_threads")
    assert "could be satisfied by sm[0].cta[0].b" in text
    assert "ended before sm[0].cta[0] __syncthreads had enough" in text
    assert "cycle" not in text


def test_named_barrier_for_more_warps_than_come_to_it():
    """All of them wait at it."""
    text = said("{named_barrier: {id: 1, warps: 3}}")
    assert "2 of 3 arrivals" in text
    assert "all that come to it are there, and it asks for more of them" in text
    assert "cycle" not in text
