"""Command-line arguments as scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpusim.errors import GpusimError, ScenarioError
from gpusim.scenario import Scenario, load
from gpusim.scenario.overrides import parse_assignments
from gpusim.scenario.sweeps.axes import Axes, joined, pinned
from gpusim.units import parse

__all__ = ["positive", "scenario_and_axes", "scenario_and_sweep", "single_scenario"]


def scenario_and_axes(
    path: Path, assignments: list[str] | None, device: str | None
) -> tuple[Scenario, dict[str, list[Any]]]:
    """The scenario with all single overrides applied, and the axes that comma lists make."""
    scenario, axes, _ = _read(path, assignments, device)
    return scenario, axes


def scenario_and_sweep(path: Path, assignments: list[str] | None, device: str | None) -> tuple[Scenario, Axes]:
    """The same, with the axes of its own sweep: comma lists replace and join them, single overrides pin theirs.

    Raises GpusimError where nothing is left to sweep, or an override could not hold at every point.
    """
    scenario, given, fixed = _read(path, assignments, device)
    try:
        return scenario, pinned(joined(scenario.model.sweep, given), fixed)
    except GpusimError as error:
        raise GpusimError(f"{path}: {error}") from None


def single_scenario(path: Path, assignments: list[str] | None, device: str | None) -> Scenario:
    """The one scenario asked for. Raises GpusimError where a comma list makes several."""
    scenario, axes = scenario_and_axes(path, assignments, device)
    if axes:
        name, values = next(iter(axes.items()))
        raise GpusimError(f"--set {name} has {len(values)} values; one is allowed here, gpusim sweep takes lists")
    return scenario


def positive(text: str, option: str, dimension: str, example: str) -> float:
    """The value of an ``option`` that is a quantity, in SI units. Raises GpusimError unless it is greater than zero."""
    try:
        value = parse(text, dimension)
    except GpusimError as error:
        raise GpusimError(f"{option}: {error}") from None
    if value <= 0.0:
        raise GpusimError(f"{option}: {text!r} is not a {dimension} greater than zero (such as {example})")
    return value


def _read(
    path: Path, assignments: list[str] | None, device: str | None
) -> tuple[Scenario, dict[str, list[Any]], dict[str, str]]:
    """The scenario, axes from the command line, and the single overrides: paths with the options that gave them."""
    given = parse_assignments(assignments or ())
    fixed = {name: values[0] for name, values in given.items() if len(values) == 1}
    options = {name: f"--set {name}" for name in fixed}
    if device is not None:
        if not given.keys().isdisjoint(("device", "device.base")):
            raise GpusimError("--device and --set device=… name a device each; give one of them")
        # Another base keeps the scenario's changed quantities: they are the what-if.
        fixed = {"device.base": device, **fixed}
        options["device.base"] = "--device"
    axes = {name: values for name, values in given.items() if len(values) > 1}
    try:
        return load(path, fixed), axes, options
    except ScenarioError as error:
        for one in (error, *error.others):
            if device is not None and one.file == "--set device.base":
                one.file, one.field = "--device", ""
        raise
