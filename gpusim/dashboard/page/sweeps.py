"""The sweep of a scenario: every point predicted, and beside it what was measured there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpusim.errors import GpusimError
from gpusim.scenario import Scenario, with_overrides
from gpusim.scenario import sweep as run_sweep
from gpusim.scenario.overrides import assignment, grid_points
from gpusim.scenario.sweeps.yardstick import Yardstick
from gpusim.validation import measurement_of

__all__ = ["MOST_POINTS", "Sweep", "SweepRow", "axes_of", "sweep_of", "without"]

MOST_POINTS = 200
"""More of them belong on the command line, which shows how far it is and can go on later."""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One point: its values in the order of the axes, the changes that make it, seconds; ``error`` if it cannot run.

    ``work``: how much it does, as a `Yardstick` takes it.
    """

    values: tuple[str, ...]
    changes: tuple[str, ...]
    predicted_s: float | None
    measured_s: float | None = None
    error: str = ""
    work: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Sweep:
    """All points of a sweep. ``axes``: paths that are set, and what to call them; ``yardstick``: what ranks them."""

    axes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: tuple[SweepRow, ...] = ()
    yardstick: Yardstick = field(default_factory=Yardstick)

    def cost_s(self, row: SweepRow) -> float:
        """Predicted seconds of a point that ran, or seconds per unit of work where points do unlike work."""
        return self.yardstick.cost_s(row.predicted_s, row.work)

    @property
    def ranked(self) -> list[SweepRow]:
        """Points that ran, the best prediction first."""
        ran = (row for row in self.rows if row.predicted_s is not None)
        return sorted(ran, key=lambda row: self.yardstick.place(row.predicted_s, row.work))

    @property
    def measured_best(self) -> SweepRow | None:
        """The best of those that were measured."""
        measured = (row for row in self.rows if row.measured_s and row.predicted_s is not None)
        return min(measured, key=lambda row: self.yardstick.cost_s(row.measured_s, row.work), default=None)


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
    return Sweep(axes, tuple(map(_label, axes)), tuple(rows), result.yardstick)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _label(path: str) -> str:
    """The words of a path that say what it is."""
    keys = [key for key in path.split(".") if not key.isdigit()]
    known = ("kernel", "params", "device", "set", "host", "rings", "roles", "threads", "per_tile", "per_chunk")
    return " ".join(key for key in keys if key not in known).replace("_", " ") or path


def without(changes: Sequence[str], axes: Sequence[str]) -> tuple[str, ...]:
    """The changes of what is not swept over."""
    return tuple(change for change in changes if change.partition("=")[0] not in axes)
