"""The critical path, on chains whose answer is obvious."""

from itertools import pairwise

import pytest

from gpusim.timeline import TimelineBuilder
from gpusim.timeline.critical_path import critical_path

US = 1e-6
LOADER, STAGE, CONSUMER = "sm[0].cta[0].loader", "sm[0].cta[0].input[0]", "sm[0].cta[0].consumer"


def chain(causes: bool):
    """Issue 1 µs, copy to 5 µs, consumer wakes at 6 µs and computes until 8 µs."""
    builder = TimelineBuilder()
    issue = builder.add(LOADER, "issue", 0, 1 * US, tile=0)
    copy = builder.add(STAGE, "copy", 1 * US, 5 * US, tile=0, cause=issue if causes else -1)
    builder.add(CONSUMER, "wait", 0, 6 * US, reason="stage_empty", cause=copy if causes else -1)
    builder.add(CONSUMER, "compute", 6 * US, 8 * US, tile=0)
    return builder.build()


def test_path_goes_through_the_copy_that_released_the_wait():
    """The wait is explained by its cause; only waking up remains of it."""
    path = critical_path(chain(causes=True))
    assert path.by_kind == pytest.approx({"issue": 1 * US, "copy": 4 * US, "wait": 1 * US, "compute": 2 * US})
    assert path.bottleneck == "copy"
    assert not path.inferred


def test_path_tiles_the_whole_duration():
    """Steps follow each other without gap or overlap."""
    steps = critical_path(chain(causes=True)).steps
    assert steps[0].start_s == 0
    assert steps[-1].end_s == pytest.approx(8 * US)
    for before, after in pairwise(steps):
        assert after.start_s == pytest.approx(before.end_s)


def test_measured_causes_are_inferred():
    """Without causes the wait is explained by the work of the CTA that ended last before it."""
    path = critical_path(chain(causes=False))
    assert path.inferred
    assert path.by_kind["copy"] == pytest.approx(4 * US)


def test_work_follows_work_on_its_lane():
    """A lane that only computes is its own path."""
    builder = TimelineBuilder()
    for tile in range(3):
        builder.add(CONSUMER, "compute", tile * US, (tile + 1) * US, tile=tile)
    path = critical_path(builder.build())
    assert [step.index for step in path.steps] == [0, 1, 2]
    assert path.by_kind == pytest.approx({"compute": 3 * US})


def test_empty_timeline_has_no_path():
    """Nothing happened."""
    assert critical_path(TimelineBuilder().build()).steps == ()


def test_causes_in_a_circle_end():
    """A broken trace must not hang the program."""
    builder = TimelineBuilder()
    builder.add("a", "wait", 0, 1 * US, cause=1)
    builder.add("b", "wait", 0, 1 * US, cause=0)
    assert len(critical_path(builder.build()).steps) <= 2
