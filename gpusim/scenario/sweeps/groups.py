"""Which axes of a sweep change the work, found in what the points do, and the best of the others for each amount.

Points that do unlike work have no order in time: the denser arithmetic is first by time per FLOP whatever else is set.
Those that differ only in the other axes, the levers, do the same, and their times compare.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Generic, Protocol, TypeVar

from gpusim.scenario.sweeps.yardstick import Work, Yardstick, yardstick_of

__all__ = ["SweepGroup", "groups_of", "one_for_all", "work_axes"]


class _Point(Protocol):
    """What is asked of a point that ran."""

    @property
    def point(self) -> Mapping[str, Any]: ...
    @property
    def work(self) -> Work: ...
    @property
    def total_s(self) -> float: ...


Point = TypeVar("Point", bound=_Point)


@dataclass(frozen=True)
class SweepGroup(Generic[Point]):
    """Points of the same work. ``setting``: of the axes that change it; ``ranked``: the quickest first."""

    setting: dict[str, Any]
    ranked: tuple[Point, ...]

    @property
    def best(self) -> Point:
        """The quickest."""
        return self.ranked[0]

    @property
    def median_longer(self) -> float | None:
        """By how much longer than the best the median of the group takes, 0.1 for 10 %; None of one point alone."""
        return self._longer(median(point.total_s for point in self.ranked))

    @property
    def worst_longer(self) -> float | None:
        """The same of the slowest."""
        return self._longer(self.ranked[-1].total_s)

    def _longer(self, total_s: float) -> float | None:
        return total_s / self.best.total_s - 1.0 if len(self.ranked) > 1 and self.best.total_s else None


def work_axes(points: Sequence[_Point]) -> tuple[str, ...]:
    """Paths of the axes of points that ran which change the work, in their order; the others are levers.

    An axis is one if points do unlike work that differ in nothing else. Where no points differ in one axis alone, as in
    a list of chosen ones, those axes are taken together.
    """
    axes = list(dict.fromkeys(path for point in points for path in point.point))
    changing, unknown = [], []
    for axis in axes:
        alone = [group for group in _by(points, [other for other in axes if other != axis]) if len(group) > 1]
        if any(_unlike(group) for group in alone):
            changing.append(axis)
        elif not alone:
            unknown.append(axis)
    if any(map(_unlike, _by(points, changing))):
        changing += unknown
    if any(map(_unlike, _by(points, changing))):
        # Each alone changes little, and all of them together more than that.
        changing = axes
    return tuple(axis for axis in axes if axis in changing)


def groups_of(points: Sequence[Point], axes: Sequence[str]) -> tuple[SweepGroup[Point], ...]:
    """Points that ran by what they have on ``axes``, in the order of the sweep."""
    return tuple(
        SweepGroup(
            {path: group[0].point[path] for path in axes if path in group[0].point},
            tuple(sorted(group, key=lambda point: Yardstick().place(point.total_s, point.work))),
        )
        for group in _by(points, axes)
    )


def one_for_all(groups: Sequence[SweepGroup[Point]]) -> tuple[dict[str, Any], float] | None:
    """The setting of the levers that is nowhere far behind the best, and by how much at most (0.1 for 10 %).

    None where no setting ran in every group, or where there is one group only.
    """
    behind: dict[str, list[float]] = {}
    levers: dict[str, dict[str, Any]] = {}
    for group in groups:
        for point in group.ranked:
            setting = {path: value for path, value in point.point.items() if path not in group.setting}
            levers[_key(setting)] = setting
            behind.setdefault(_key(setting), []).append(point.total_s / group.best.total_s - 1.0)
    worst = {key: max(each) for key, each in behind.items() if len(each) == len(groups) and levers[key]}
    if len(groups) < 2 or not worst:
        return None
    key = min(worst, key=worst.__getitem__)
    return levers[key], worst[key]


def _by(points: Iterable[Point], axes: Iterable[str]) -> list[list[Point]]:
    """Points that agree on ``axes``, together."""
    found: dict[str, list[Point]] = {}
    paths = list(axes)
    for point in points:
        found.setdefault(_key({path: point.point.get(path) for path in paths}), []).append(point)
    return list(found.values())


def _key(setting: Mapping[str, Any]) -> str:
    return json.dumps(setting, sort_keys=True, default=str)


def _unlike(points: Iterable[_Point]) -> bool:
    return bool(yardstick_of(point.work for point in points).differ)
