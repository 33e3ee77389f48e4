"""From recorded parameters to the scenario that shows them, with what has to be changed of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from gpusim.dashboard.page.case import Asked, Finder
from gpusim.scenario import Scenario
from gpusim.scenario.overrides import assignment

__all__ = ["finder_among"]


def finder_among(scenarios: Iterable[tuple[str, Scenario]]) -> Finder:
    """Finds among ``scenarios``, by name: of those of the technique the one that needs the fewest changes."""
    known: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for name, scenario in scenarios:
        if scenario.technique is not None:
            # What a changed device predicts was recorded nowhere, so it is named anew.
            device = "" if scenario.model.device.set else scenario.device
            own = (name, device, dataclasses.asdict(scenario.params))
            known.setdefault(scenario.technique.name, []).append(own)

    def find(technique: str, device: str, params: Mapping[str, Any]) -> Asked | None:
        asked = [
            Asked(name, changes=_changes(own_device, own, device, params))
            for name, own_device, own in known.get(technique, ())
        ]
        return min(asked, key=lambda one: len(one.changes), default=None)

    return find


def _changes(own_device: str, own: Mapping[str, Any], device: str, params: Mapping[str, Any]) -> tuple[str, ...]:
    other = [f"device={device}"] if device != own_device else []
    values = (assignment(f"kernel.params.{key}", value) for key, value in params.items() if own.get(key) != value)
    return (*other, *values)
