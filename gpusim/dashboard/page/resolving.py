"""From what is asked for to the scenario that it stands for: of a file, a recorded point or an edited text, changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpusim.dashboard.page.case import OWN_POINT, Asked, CaseError
from gpusim.dashboard.page.form import apart
from gpusim.dashboard.page.scenario_text import ScenarioText, changed_lines, plain_breaks
from gpusim.dashboard.page.text_edits import edited
from gpusim.errors import GpusimError
from gpusim.scenario import Scenario, from_data, load, loads, with_overrides
from gpusim.scenario.overrides import parse_assignments
from gpusim.scenario.yaml_source import read_text
from gpusim.validation import Measurement, measurements

__all__ = ["base_of", "changed", "lines_of", "own_of", "points_of", "text_of_asked"]


def own_of(asked: Asked, path: Path) -> Scenario:
    """The scenario of the file; of the edited text, where there is one and the file cannot be used."""
    try:
        return load(path)
    except GpusimError:
        if asked.text is None:
            raise
        return loads(asked.text, str(path))


def base_of(own: Scenario, asked: Asked) -> Scenario:
    """What the changes are of: the scenario itself, at a recorded point, or as its edited text has it."""
    if asked.text is not None:
        return loads(asked.text, own.source.name)
    return _pointed(own, asked.point)


def changed(base: Scenario, changes: tuple[str, ...]) -> Scenario:
    """The scenario with the changes of a what-if, each of one value."""
    found = parse_assignments(changes)
    for path, values in found.items():
        if len(values) > 1:
            raise CaseError(f"{path}: one value, please; several of them are a sweep (gpusim sweep)", fields=[path])
    return with_overrides(base, {path: values[0] for path, values in found.items()}) if found else base


def text_of_asked(asked: Asked, path: Path) -> ScenarioText:
    """The text that stands for what is asked for, right or wrong: nothing of what is edited is lost."""
    try:
        before = plain_breaks(read_text(path))
        if asked.point != OWN_POINT:
            own = load(path)
            before = edited(before, apart(own, _pointed(own, asked.point)))
    except (GpusimError, CaseError):
        before = ""
    after = edited(before if asked.text is None else asked.text, asked.changes)
    return ScenarioText(after, changed_lines(before, after) if before else ())


def lines_of(error: GpusimError, name: str) -> tuple[int, ...]:
    """The lines of the file called ``name`` that a message is about."""
    return tuple(int(line) for line in re.findall(rf"^{re.escape(name)}:(\d+)", str(error), re.MULTILINE))


def points_of(scenario: Scenario) -> dict[str, Measurement]:
    """Recorded timelines of the scenario's technique on its device, by a key that suits an address."""
    technique = scenario.technique
    if technique is None or scenario.model.device.set:
        return {}
    found = [
        m for m in measurements(technique.name)
        if m.device == scenario.recorded_device and m.has_timeline
    ]  # fmt: skip
    return {",".join(f"{k}={v}" for k, v in _distinct(m, found).items()) or f"p{i}": m for i, m in enumerate(found)}


def _pointed(own: Scenario, point: str) -> Scenario:
    """The scenario itself, or at one of its recorded points."""
    if point == OWN_POINT:
        return own
    points = points_of(own)
    if point not in points:
        raise CaseError(f"{own.name} has no recorded point {point!r}.", "Unknown recorded point")
    return _at(own, points[point])


def _distinct(measurement: Measurement, among: list[Measurement]) -> Mapping[str, Any]:
    """The parameters that tell a measurement from the others."""
    return {
        name: value for name, value in measurement.params.items() if len({str(m.params.get(name)) for m in among}) > 1
    }


def _at(own: Scenario, measurement: Measurement) -> Scenario:
    kernel = {"technique": measurement.technique.name, "params": dict(measurement.params)}
    data = {"question": own.question, "device": own.device, "kernel": kernel}
    return from_data(data, own.source.name)
