"""Scenario files to checked `Scenario` values; every mistake names file, line and field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError

from gpusim.errors import GpusimError, ScenarioError, listing, nearest
from gpusim.scenario import mistakes
from gpusim.scenario.device_check import device_mistakes, with_file
from gpusim.scenario.host.check import host_problems
from gpusim.scenario.host.schema import SpelledHost, WorkSpec
from gpusim.scenario.kernel.check import problems
from gpusim.scenario.overrides import apply_override, split_path
from gpusim.scenario.problem import Problem
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.schema import ScenarioModel, SpelledKernel, TechniqueKernel
from gpusim.scenario.technique import techniques
from gpusim.scenario.technique_params import params_model
from gpusim.scenario.yaml_source import Place, Source, parse_yaml, read_text, shown

__all__ = ["from_data", "load", "loads", "scenario_files", "with_overrides"]

_NAMED = frozenset(
    name
    for model in (SpelledKernel, SpelledHost)
    for name, field in model.model_fields.items()
    if get_origin(field.annotation) is dict
)
"""Fields whose keys are names that a scenario chooses: rings, roles, streams …"""


def scenario_files(folder: Path) -> list[Path]:
    """The scenario files that lie in a folder, in order of name."""
    return sorted(path for suffix in ("*.yaml", "*.yml") for path in folder.glob(suffix) if path.is_file())


def load(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario in a YAML file, with ``{"dotted.path": value}`` overrides applied.

    Raises ScenarioError with file, line, column, field, what was given and what is allowed.
    """
    path = Path(path)
    return loads(read_text(path), name=str(path), overrides=overrides)


def loads(text: str, name: str = "scenario", overrides: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario in a YAML text. ``name`` stands for the file in messages. Raises ScenarioError."""
    data, source = parse_yaml(text, name)
    return _checked(data, source, overrides or {})


def from_data(data: Mapping[str, Any], name: str = "scenario", overrides: Mapping[str, Any] | None = None) -> Scenario:
    """The scenario given as plain data, as a resolved one in a result. Raises ScenarioError."""
    return _checked(dict(data), Source(name), overrides or {})


def with_overrides(
    scenario: Scenario, overrides: Mapping[str, Any], places: Mapping[str, Place] | None = None
) -> Scenario:
    """The same scenario with ``{"dotted.path": value}`` set. Raises ScenarioError.

    ``places``: where values stand in the scenario's own file, for messages, by dotted path.
    """
    return _checked(scenario.data, scenario.source, overrides, places or {})


def _checked(
    data: Any, source: Source, overrides: Mapping[str, Any], places: Mapping[str, Place] | None = None
) -> Scenario:
    if not isinstance(data, dict):
        raise source.error("is not a scenario", allowed="a mapping with question, device, and kernel or host")
    data, source = _overridden(data, source, overrides, places or {})
    model = _validated(ScenarioModel, data, source, ())
    model = model.model_copy(update={"device": with_file(model.device, source)})
    found = list(device_mistakes(model.device, source))
    kernels: dict[Place, TechniqueKernel | SpelledKernel | WorkSpec] = {}
    if model.kernel is not None:
        kernels["kernel",] = model.kernel
    if model.host is not None:
        found += _told(host_problems(model.host), source, ("host",))
        kernels |= {("host", "kernels", name): kernel for name, kernel in model.host.kernels.items()}
    params: dict[Place, Any] = {}
    for place, kernel in kernels.items():
        try:
            if isinstance(kernel, TechniqueKernel):
                params[place] = _params(kernel, source, place)
            elif isinstance(kernel, SpelledKernel):
                found += _told(problems(kernel), source, place)
        except ScenarioError as error:
            found.append(error)
    if found:
        raise mistakes.in_one(found)
    own = params.pop(("kernel",), None)
    return Scenario(model, own, data, source, {place[-1]: values for place, values in params.items()})


def _overridden(
    data: Any, source: Source, overrides: Mapping[str, Any], places: Mapping[str, Place]
) -> tuple[Any, Source]:
    marks = dict(source.overrides)
    for dotted, value in overrides.items():
        origin = places.get(dotted, ())
        try:
            place = split_path(dotted)
        except GpusimError as error:
            raise source.error(str(error), origin) if origin else error from None
        marks[place] = origin or f"--set {dotted}"
        try:
            _require_names(data, place)
            data = apply_override(data, place, value)
        except ScenarioError as error:
            told = {"allowed": error.allowed, "suggestion": error.suggestion}
            if origin:
                raise source.error(f"override {dotted}: {error.problem}", origin, **told) from None
            raise replace(source, overrides=marks).error(error.problem, place, **told) from None
    return data, replace(source, overrides=marks)


def _require_names(data: Any, place: Place) -> None:
    """Raise ScenarioError if ``place`` is in what has a name that nothing has; a new one has to be set whole."""
    inside = data
    for kind, name in pairwise(place[:-1]):
        inside = inside.get(kind) if isinstance(inside, dict) else None
        if kind in _NAMED and isinstance(inside, dict) and inside and name not in inside:
            allowed, suggestion = listing(inside), nearest(str(name), inside)
            raise ScenarioError(f"there is no {name!r} in {kind}", allowed=allowed, suggestion=suggestion)


def _validated(model: type[BaseModel], data: Any, source: Source, prefix: Place) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise mistakes.of_model(error, model, data, source, prefix) from None


def _params(kernel: TechniqueKernel, source: Source, where: Place) -> Any:
    known = techniques()
    if kernel.technique not in known:
        raise source.error(
            f"unknown technique {shown(kernel.technique)}", (*where, "technique"), given=kernel.technique,
            allowed=listing(known), suggestion=nearest(kernel.technique, known),
        )  # fmt: skip
    technique = known[kernel.technique]
    place = (*where, "params")
    values = _validated(params_model(technique), kernel.params, source, place)
    try:
        return technique.make_params(vars(values))  # not dict(): a parameter may be called "keys"
    except (ValueError, TypeError) as error:  # a GpusimError is a ValueError
        raise source.error(str(error), _blamed(str(error), kernel.params, place)) from None


def _blamed(message: str, params: Mapping[str, Any], place: Place) -> Place:
    """The parameter that the message speaks of first, so that the editor points there."""
    positions = {name: message.find(name) for name in params}
    named = [name for name, position in positions.items() if position >= 0]
    return (*place, min(named, key=lambda name: (positions[name], -len(name)))) if named else place


def _told(found: Iterable[Problem], source: Source, place: Place) -> Iterator[ScenarioError]:
    for problem in found:
        path = (*place, *problem.path)
        yield source.error(problem.text, path, allowed=problem.allowed, suggestion=problem.suggestion)
