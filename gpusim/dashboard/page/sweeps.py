"""The sweep of a scenario: every point predicted, and beside it what was measured there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gpusim.dashboard.figure.text import spaced
from gpusim.errors import GpusimError
from gpusim.scenario import Scenario, with_overrides
from gpusim.scenario import sweep as run_sweep
from gpusim.scenario.overrides import assignment, grid_points
from gpusim.scenario.sweeps.groups import SweepGroup, groups_of, work_axes
from gpusim.scenario.sweeps.yardstick import yardstick_of
from gpusim.validation import measurement_of

__all__ = ["MOST_POINTS", "Sweep", "SweepRow", "axes_of", "label_of", "sweep_of", "without"]

MOST_POINTS = 200
"""More of them belong on the command line, which shows how far it is and can go on later."""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One point: its values in the order of the axes, the changes that make it, seconds; ``error`` if it cannot run.

    ``work``: how much it does, as a `Yardstick` takes it. Also a point that `groups_of` can put with others.
    """

    values: tuple[str, ...]
    changes: tuple[str, ...]
    predicted_s: float | None
    measured_s: float | None = None
    error: str = ""
    work: Mapping[str, float] = field(default_factory=dict)

    @property
    def point(self) -> dict[str, str]:
        """The changes by path."""
        return {path: value for path, _, value in (change.partition("=") for change in self.changes)}

    @property
    def total_s(self) -> float:
        """Predicted seconds; infinite where it cannot run."""
        return float("inf") if self.predicted_s is None else self.predicted_s


@dataclass(frozen=True)
class Sweep:
    """All points of a sweep. ``axes``: paths that are set; ``labels``: what to call them."""

    axes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: tuple[SweepRow, ...] = ()

    @cached_property
    def differ(self) -> str:
        """The amounts of work in which points are unlike; "" where all do the same."""
        return yardstick_of(row.work for row in self._ran).differ

    @cached_property
    def work_axes(self) -> tuple[str, ...]:
        """Those of the axes that change the work; the others are levers."""
        return work_axes(self._ran)

    @cached_property
    def groups(self) -> tuple[SweepGroup[SweepRow], ...]:
        """Points that ran, those of the same work together, each group ranked by time."""
        return groups_of(self._ran, self.work_axes)

    @property
    def compared(self) -> tuple[SweepGroup[SweepRow], ...]:
        """The groups that have a best point: of unlike work, only what others do as well can be better than them."""
        return tuple(group for group in self.groups if len(group.ranked) > 1 or not self.work_axes)

    @property
    def best(self) -> list[SweepRow]:
        """The quickest of each of them by prediction."""
        return [group.best for group in self.compared]

    @property
    def measured_best(self) -> list[SweepRow]:
        """The quickest of each of them that was measured."""
        measured = ([row for row in group.ranked if row.measured_s] for group in self.compared)
        return [min(rows, key=lambda row: row.measured_s) for rows in measured if rows]

    @property
    def _ran(self) -> list[SweepRow]:
        return [row for row in self.rows if row.predicted_s is not None]


def axes_of(scenario: Scenario) -> tuple[str, ...]:
    """The paths that the sweep of a scenario sets."""
    return tuple(dict.fromkeys(path for point in grid_points(scenario.model.sweep) for path in point))


def sweep_of(own: Scenario, scenario: Scenario) -> Sweep:
    """The sweep of ``own`` over ``scenario``, which is it with changes. Raises GpusimError for too many points."""
    points = [point for point in grid_points(own.model.sweep) if point]
    if len(points) > MOST_POINTS:
        raise GpusimError(f"{len(points):,} points are too many for a page; run gpusim sweep {own.source.name}")
    axes = axes_of(own)
    if not points:
        return Sweep()
    # In place: a server's threads have no processes to give away.
    result = run_sweep(scenario, points, workers=1)
    rows = []
    for point, found in zip(points, result.points, strict=True):
        measurement = measurement_of(with_overrides(scenario, point))
        rows.append(
            SweepRow(
                tuple("as it is" if path not in point else _value(point[path]) for path in axes),
                tuple(assignment(path, value) for path, value in point.items()),
                None if found.error else found.total_s,
                measurement.row.total_s if measurement is not None else None,
                found.error,
                found.work,
            )
        )
    return Sweep(axes, tuple(map(label_of, axes)), tuple(rows))


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def label_of(path: str) -> str:
    """The words of a path that say what it is."""
    keys = [key for key in path.split(".") if not key.isdigit()]
    known = ("kernel", "params", "device", "set", "host", "rings", "roles", "threads", "per_tile", "per_chunk")
    return " ".join(spaced(key) for key in keys if key not in known) or path


def without(changes: Sequence[str], axes: Sequence[str]) -> tuple[str, ...]:
    """The changes of what is not swept over."""
    return tuple(change for change in changes if change.partition("=")[0] not in axes)
