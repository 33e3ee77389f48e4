"""The points of a sweep as scenarios; a point that is none is told where it stands in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpusim.errors import GpusimError, ScenarioError
from gpusim.scenario import mistakes
from gpusim.scenario.loader import with_overrides
from gpusim.scenario.overrides import assignment, grid_points
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.yaml_source import Place

__all__ = ["Axes", "check_sweep", "sweep_points"]

Axes = Mapping[str, list[Any]] | list[Mapping[str, Any]]
"""Dotted paths with the values to try, for all combinations; or a list of chosen points."""

Point = dict[str, Any]


def sweep_points(scenario: Scenario, axes: Axes | None = None) -> Iterator[tuple[Point, Scenario]]:
    """Each point of ``axes`` (default: the scenario's own ``sweep``) and the scenario that it makes.

    Raises ScenarioError for a point that makes none, GpusimError for too many points.
    """
    for point, places in _points(scenario, axes):
        yield point, _at(scenario, point, places)


def check_sweep(scenario: Scenario) -> None:
    """Make every point of the scenario's own sweep. Raises ScenarioError with what is wrong with them."""
    found: dict[tuple[str, str], ScenarioError] = {}
    try:
        for point, places in _points(scenario, None):
            try:
                _at(scenario, point, places)
            except ScenarioError as error:
                # Every combination with a value that is wrong tells the same, and every value of a wrong path.
                for one in (error.with_others(()), *error.others):
                    found.setdefault((one.field.rpartition(".")[0], one.problem), one)
                if len(found) > mistakes.MOST:
                    break
    except ScenarioError:
        raise
    except GpusimError as error:
        raise scenario.source.error(str(error), ("sweep",)) from None
    if found:
        raise mistakes.in_one(found.values())


def _points(scenario: Scenario, axes: Axes | None) -> Iterator[tuple[Point, dict[str, Place]]]:
    """Points, and where in the file their values stand; those from the command line stand nowhere."""
    own = scenario.model.sweep
    axes = (own if axes is None else axes) or {}
    if isinstance(axes, list):
        for number, point in enumerate(axes):
            yield dict(point), {path: ("sweep", number, path) for path in point if axes is own}
        return
    ours = {path for path, values in axes.items() if isinstance(own, dict) and own.get(path) is values}
    # By numbers of values, because the number is the place.
    for chosen in grid_points({path: list(range(len(values))) for path, values in axes.items()}):
        point = {path: axes[path][number] for path, number in chosen.items()}
        yield point, {path: ("sweep", path, chosen[path]) for path in chosen if path in ours}


def _at(scenario: Scenario, point: Point, places: Mapping[str, Place]) -> Scenario:
    try:
        return with_overrides(scenario, point, places)
    except ScenarioError as error:
        if not places or error.field.startswith("sweep.") or error.file != scenario.source.name:
            raise
        # What is wrong stands elsewhere, but the point has made it so.
        *_, place = places.values()
        told = ", ".join(assignment(path, value) for path, value in point.items())
        problem = f"with {told} {error.field} is wrong: {error.problem}"
        raise scenario.source.error(problem, place, allowed=error.allowed, suggestion=error.suggestion) from None
