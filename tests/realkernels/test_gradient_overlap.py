"""`gradient_overlap`: gradients are sent when they are ready, and on a device without overheads what that spares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpusim.hardware import load_profile
from gpusim.host import simulate_host
from gpusim.timeline import Timeline
from realkernels.gradient_overlap import Params
from realkernels.gradient_overlap.model import build

PLAIN = Params(buckets=4, steps=3, backward_s=4e-3, comm_s=2e-3, bytes=16384)
WAVES = replace(PLAIN, blocks=264 * 10, steps=1)
"""Kernels of ten waves of 0.1 ms each, communication of 0.5 ms."""


def timeline(params: Params, device: str = "textbook") -> Timeline:
    return simulate_host(build(params), load_profile(device))


def lanes(params: Params, device: str = "textbook") -> list[list]:
    """The kernels of both streams, in their order."""
    rows = [row for row in timeline(params, device) if row.kind == "kernel"]
    return [sorted((row for row in rows if row.lane == f"stream[{lane}]"), key=lambda row: row.start_s)
            for lane in range(2)]  # fmt: skip


@pytest.mark.parametrize("overlap", ["overlapped", "after_backward"])
def test_a_bucket_is_sent_when_it_is_there(overlap):
    """And the next step begins when the last one of this step has been sent."""
    backward, comm = lanes(replace(PLAIN, overlap=overlap))
    assert len(backward) == len(comm) == 12
    ready = {row.tile: row.end_s for row in backward}
    for row in comm:
        last = row.tile if overlap == "overlapped" else row.tile // 4 * 4 + 3
        assert row.start_s >= ready[last] - 1e-12
    for step in (1, 2):
        assert backward[4 * step].start_s >= comm[4 * step - 1].end_s - 1e-12


def test_all_but_the_last_bucket_hide_where_there_is_room():
    assert timeline(PLAIN).total_s == pytest.approx(3 * (4e-3 + 2e-3 / 4), rel=0.01)


@pytest.mark.parametrize("overlap", ["after_backward", "same_stream"])
def test_nothing_hides_behind_what_it_waits_for(overlap):
    assert timeline(replace(PLAIN, overlap=overlap)).total_s == pytest.approx(3 * (4e-3 + 2e-3), rel=0.01)


def test_communication_that_takes_longer_than_the_pass_is_what_counts():
    """The first bucket's backward comes before it, and nothing else is exposed."""
    assert timeline(replace(PLAIN, comm_s=8e-3)).total_s == pytest.approx(3 * (4e-3 / 4 + 8e-3), rel=0.01)


def test_priority_matters_when_blocks_end():
    """High: at the end of the next wave. Normal: when the kernel's last blocks have been placed and ended."""
    for priority, late in (("high", 0.1e-3), ("normal", 1e-3)):
        backward, comm = lanes(replace(WAVES, priority=priority), "h200_sxm")
        assert comm[0].start_s - backward[0].end_s == pytest.approx(late, rel=0.05)


def test_priority_is_nothing_among_kernels_of_one_wave():
    """The next backward kernel begins before the event is seen, and takes the whole device."""
    one = replace(PLAIN, blocks=264)
    assert timeline(one, "h200_sxm").total_s == timeline(replace(one, priority="normal"), "h200_sxm").total_s
