"""The points of a sweep as scenarios; a point that is none is told where it stands in the file."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from gpusim.errors import GpusimError, ScenarioError
from gpusim.scenario import mistakes
from gpusim.scenario.loader import with_overrides
from gpusim.scenario.overrides import assignment, grid_points
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.sweeps.axes import Axes, axes_problems
from gpusim.scenario.yaml_source import Place

__all__ = ["checked_points", "sweep_points"]

Point = dict[str, Any]


def sweep_points(scenario: Scenario, axes: Axes | None = None) -> Iterator[tuple[Point, Scenario]]:
    """Each point of ``axes`` (default: the scenario's own ``sweep``) and the scenario that it makes.

    Raises ScenarioError for too many points, for those given twice and for a point that makes none.
    """
    for point, places in _points(scenario, axes):
        yield point, _at(scenario, point, places)


def checked_points(scenario: Scenario) -> list[tuple[Point, Scenario]]:
    """Every point of the scenario's own sweep. Raises ScenarioError with what is wrong with them, all at once."""
    made = []
    found: dict[tuple[str, str], ScenarioError] = {}
    for point, places in _points(scenario, None):
        try:
            made.append((point, _at(scenario, point, places)))
        except ScenarioError as error:
            # Every combination with a value that is wrong tells the same, and every value of a wrong path.
            for one in (error.with_others(()), *error.others):
                found.setdefault((one.field.rpartition(".")[0], one.problem), one)
            if len(found) > mistakes.MOST:
                break
    if found:
        raise mistakes.in_one(found.values())
    return made


def _points(scenario: Scenario, axes: Axes | None) -> Iterator[tuple[Point, dict[str, Place]]]:
    """Points, and where in the file their values stand; those from the command line stand nowhere."""
    own = scenario.model.sweep
    axes = (own if axes is None else axes) or {}
    if isinstance(axes, list):
        _require_meant(scenario, axes, range(len(axes)) if axes is own else ())
        for number, point in enumerate(axes):
            yield dict(point), {path: ("sweep", number, path) for path in point if axes is own}
        return
    ours = {path for path, values in axes.items() if isinstance(own, dict) and own.get(path) is values}
    # By numbers of values, because the number is the place.
    numbers = {path: list(range(len(values))) for path, values in axes.items()}
    try:
        chosen_ones = grid_points(numbers)
    except GpusimError as error:
        raise scenario.source.error(str(error), ("sweep",) if ours else ()) from None
    _require_meant(scenario, axes, ours)
    for chosen in chosen_ones:
        point = {path: axes[path][number] for path, number in chosen.items()}
        yield point, {path: ("sweep", path, chosen[path]) for path in chosen if path in ours}


def _require_meant(scenario: Scenario, axes: Axes, ours: Container[str | int]) -> None:
    """Raise ScenarioError for the `axes_problems`; ``ours``: paths or numbers of points that stand in the file."""
    found = []
    for place, told in axes_problems(axes):
        if place[0] in ours:
            found.append(scenario.source.error(told, ("sweep", *place)))
        else:
            name = f"point {place[0]}" if isinstance(axes, list) else f"--set {place[0]}"
            found.append(ScenarioError(told, file=name))
    if found:
        raise mistakes.in_one(found)


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
