"""Closed queues of warps against values worked out by hand and against limits."""

from __future__ import annotations

import pytest

from gpusim.hardware.sm.closed_queue import both_in_turn, for_scheduler


def test_two_warps_at_a_scheduler():
    """The second finds 11 / 31 of the first in service: 11 × 42 / 31 + 20."""
    assert for_scheduler(1, 11, 20) == pytest.approx(31)
    assert for_scheduler(2, 11, 20) == pytest.approx(11 * 42 / 31 + 20)
    assert for_scheduler(1.5, 11, 20) == pytest.approx((31 + 11 * 42 / 31 + 20) / 2)


def test_one_warp_on_each_scheduler_finds_three_others_at_shared_memory():
    """The cycle is c = 100 + 32 (c - 48) / (c - 96), so that c² - 228 c + 11136 = 0."""
    assert both_in_turn(1, 4, 100, 32, 0) == pytest.approx(114 + (114**2 - 11136) ** 0.5)


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
def test_neither_server_is_quicker_than_it_can_be(warps):
    """Who is busy all the time sets the pace: n × service, or 4 n × path."""
    assert both_in_turn(warps, 4, 100, 0, 0) == pytest.approx(100 * warps, rel=0.35)
    assert both_in_turn(warps, 4, 100, 0, 0) >= 100 * (warps - 1)
    assert both_in_turn(warps, 4, 1, 100, 0) >= 100 * (4 * warps - 1)
    assert for_scheduler(warps, 100, 1) >= 100 * warps


def test_what_is_done_meanwhile_hides_the_way():
    """Loads far enough ahead of their use cost nothing but service."""
    assert both_in_turn(1, 4, 100, 1, -50) == pytest.approx(100, rel=1e-3)
