"""The sweep of a scenario: every point predicted, and beside it what was measured there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpusim.errors import GpusimError
from gpusim.scenario import Scenario, with_overrides
from gpusim.scenario import sweep as run_sweep
from gpusim.scenario.overrides import assignment, grid_points
from gpusim.validation import measurement_of

__all__ = ["MOST_POINTS", "Sweep", "SweepRow", "axes_of", "sweep_of", "without"]

MOST_POINTS = 200
"""More of them belong on the command line, which shows how far it is and can go on later."""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One point: its values in the order of the axes, the changes that make it, seconds; ``error`` if it cannot run."""

    values: tuple[str, ...]
    changes: tuple[str, ...]
    predicted_s: float | None
    measured_s: float | None = None
    error: str = ""


@dataclass(frozen=True)
class Sweep:
    """All points of a sweep. ``axes``: the paths that are set, and what to call them."""

    axes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    rows: tuple[SweepRow, ...] = ()

    @property
    def ranked(self) -> list[SweepRow]:
        """Points that ran, the fastest prediction first; times that agree to nine digits are a tie."""
        return sorted(
            (row for row in self.rows if row.predicted_s is not None), key=lambda row: float(f"{row.predicted_s:.9g}")
        )

    @property
    def measured_best(self) -> SweepRow | None:
        """The fastest of those that were measured."""
        return min((row for row in self.rows if row.measured_s), key=lambda row: row.measured_s, default=None)


def axes_of(scenario: Scenario) -> tuple[str, ...]:
    """The paths that the sweep of a scenario sets."""
    return tuple(dict.fromkeys(path for point in grid_points(scenario.model.sweep) for path in point))


def sweep_of(own: Scenario, scenario: Scenario) -> Sweep:
    """The sweep of ``own`` over ``scenario``, which is it with changes. Raises GpusimError for too many points."""
    points = [point for point in grid_points(own.model.sweep) if point]
    if len(points) > MOST_POINTS:
        raise GpusimError(f"{len(points):,} points are too many for a page; run gpusim sweep {own.source.name}")
    axes = axes_of(own)
    # In place: a server's threads have no processes to give away.
    found = run_sweep(scenario, points, workers=1).points if points else ()
    rows = []
    for point, result in zip(points, found, strict=True):
        measurement = measurement_of(with_overrides(scenario, point))
        rows.append(
            SweepRow(
                tuple("as it is" if path not in point else _value(point[path]) for path in axes),
                tuple(assignment(path, value) for path, value in point.items()),
                None if result.error else result.total_s,
                measurement.row.total_s if measurement is not None else None,
                result.error,
            )
        )
    return Sweep(axes, tuple(map(_label, axes)), tuple(rows))


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
