"""Which axes of a sweep change the work, and what compares then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest

from gpusim.scenario import loads, sweep
from gpusim.scenario.sweeps.groups import groups_of, one_for_all, work_axes


@dataclass(frozen=True)
class Point:
    """A point that ran."""

    point: Mapping[str, Any]
    total_s: float = 1.0
    work: Mapping[str, float] = field(default_factory=dict)


def flop(point: Mapping[str, Any], amount: float, total_s: float = 1.0) -> Point:
    return Point(point, total_s, {"flop": amount, "bytes moved": 1.0})


def full(amount, **axes: list) -> list[Point]:
    """All combinations; ``amount(*values)`` is the work of each."""
    return [flop(dict(zip(axes, each, strict=True)), amount(*each)) for each in product(*axes.values())]


@pytest.mark.parametrize(
    ("amount", "changing"),
    [
        (lambda a, b, c: 1, ()),
        (lambda a, b, c: a, ("a",)),
        (lambda a, b, c: b * c, ("b", "c")),
        (lambda a, b, c: a + b + c, ("a", "b", "c")),
        (lambda a, b, c: a if c > 1 else 2 * a, ("a", "c")),
        (lambda a, b, c: 1 + c / 1000, ()),
    ],
)
def test_axes_that_change_the_work(amount, changing):
    """As measured, whatever they are called."""
    assert work_axes(full(amount, a=[1, 2, 4], b=[1, 3], c=[1, 2])) == changing


def test_points_that_are_missing_hide_nothing():
    """Those that cannot run are not there."""
    points = [point for point in full(lambda a, b: a, a=[1, 2, 4], b=[1, 3]) if point.point != {"a": 1, "b": 3}]
    assert work_axes(points) == ("a",)


def test_axes_that_only_change_together():
    """In a list of chosen points nothing tells them apart: both change the work, or none does."""
    same = [flop({"grid": each, "tiles": 8 // each}, 8) for each in (1, 2, 4)]
    unlike = [flop({"grid": each, "tiles": each}, each**2) for each in (1, 2, 4)]
    assert work_axes(same) == ()
    assert work_axes(unlike) == ("grid", "tiles")


def test_little_changes_that_add_up():
    """Seven percent each are within what counts as the same; together they are not."""
    assert work_axes(full(lambda a, b: a * b, a=[1, 1.07], b=[1, 1.07])) == ("a", "b")


def test_no_points_have_no_axes():
    """Nor groups that could be compared."""
    assert work_axes([]) == ()
    assert groups_of([], ()) == ()
    assert one_for_all(()) is None


def test_groups_and_the_setting_that_is_good_for_all():
    """The second setting is best nowhere and far behind nowhere."""
    times = {(1, "x"): 1.0, (1, "y"): 1.1, (1, "z"): 2.0, (2, "x"): 4.0, (2, "y"): 2.2, (2, "z"): 2.0}
    points = [flop({"work": work, "lever": lever}, work, total) for (work, lever), total in times.items()]
    groups = groups_of(points, work_axes(points))
    assert [(group.setting, group.best.point["lever"]) for group in groups] == [({"work": 1}, "x"), ({"work": 2}, "z")]
    assert [group.median_longer for group in groups] == pytest.approx([0.1, 0.1])
    assert [group.worst_longer for group in groups] == pytest.approx([1.0, 1.0])
    setting, longer = one_for_all(groups)
    assert (setting, longer) == ({"lever": "y"}, pytest.approx(0.1))
    alone = groups_of(points[:1], ())[0]
    assert alone.median_longer is alone.worst_longer is None


def test_setting_that_did_not_run_everywhere_is_not_for_all():
    """It may not fit there."""
    points = [
        flop({"work": 1, "lever": "x"}, 1, 1.0),
        flop({"work": 1, "lever": "y"}, 1, 2.0),
        flop({"work": 2, "lever": "y"}, 2, 2.0),
    ]
    assert one_for_all(groups_of(points, ("work",))) == ({"lever": "y"}, 1.0)
    assert one_for_all(groups_of(points[::2], ("work",))) is None


def test_sweep_of_a_scenario(spelled):
    """The best of all is none; each group has one."""
    found = sweep(loads(spelled), {"kernel.rings.input.stages": [1, 3], "kernel.tiles_per_cta": [8, 32]})
    assert found.work_axes == ("kernel.tiles_per_cta",)
    assert found.best is None
    assert [group.best.point["kernel.rings.input.stages"] for group in found.groups] == [3, 3]
    assert sweep(loads(spelled), {"kernel.rings.input.stages": [1, 3]}).groups[0].setting == {}
