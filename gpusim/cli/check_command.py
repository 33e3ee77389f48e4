"""``check``: is what stands in scenario files possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gpusim.cli.call_table import print_calls, print_captured
from gpusim.cli.output import console, print_error, print_json
from gpusim.errors import GpusimError, ScenarioError
from gpusim.scenario import Scenario, load, predict, scenario_files
from gpusim.scenario.host.call_list import call_list, captured
from gpusim.scenario.host.schema import SpelledHost
from gpusim.scenario.sweeps.points import checked_points
from gpusim.scenario.sweeps.trial import try_points

__all__ = ["check"]


def check(paths: Sequence[Path], *, json: bool, calls: bool) -> int:
    """Load and run each of ``paths``, and try the points of its sweep; tells what is wrong or doubtful about them.

    A folder stands for the scenario files in it. With ``calls`` also which calls their host programs make. Returns the
    exit code. Raises ScenarioError for a folder without such files.
    """
    found = [_checked(file, calls) for path in paths for file in _files(path)]
    if json:
        print_json({"files": found})
    else:
        for each in found:
            _print(each)
    return 2 if any(each["error"] for each in found) else 0


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    files = scenario_files(path)
    if not files:
        raise ScenarioError("holds no scenario file", file=path, allowed="a folder with .yaml files in it")
    yield from files


def _checked(path: Path, calls: bool) -> dict[str, Any]:
    """What there is to tell about one file; its calls also where running them ends in a deadlock."""
    told: dict[str, Any] = {"file": str(path), "error": None, "doubts": [], "points": 0, "points_run": 0}
    try:
        scenario = load(path)
        if calls:
            host = _host_of(scenario)
            told |= {"calls": call_list(host), "graphs": captured(host)}
        points = checked_points(scenario) if scenario.model.sweep else []
        predict(scenario, trace=False)
        told["doubts"] = list(scenario.doubts())
        trial = try_points(points, scenario)
        told |= {"points": trial.points, "points_run": trial.tried}
        told["error"] = "\n".join(trial.problems) or None
    except GpusimError as error:
        told["error"] = str(error)
    return told


def _host_of(scenario: Scenario) -> SpelledHost:
    host = scenario.model.host
    if host is None:
        allowed = "a scenario with a host program that is spelled out, below host"
        raise ScenarioError("has no calls to list", file=scenario.source.name, allowed=allowed)
    return host


def _print(told: dict[str, Any]) -> None:
    name = told["file"]
    if "calls" in told:
        print_calls(name, told["calls"])
        for graph, calls in told["graphs"].items():
            print_captured(graph, calls)
    doubts, error = told["doubts"], told["error"]
    notes = [f"doubtful: {doubt}" for doubt in doubts] if error is None else []
    if told["points_run"] < told["points"]:
        notes.append(f"{told['points_run']} of the {told['points']:,} points of its sweep were run")
    if error is not None:
        print_error(error)
    elif not doubts:
        notes = ["; ".join(["fine", *notes])]
    for note in notes:
        console().print(f"{name}: {note}", soft_wrap=True)
