"""Predicting a scenario, and the same work without overlap to compare it with."""

from __future__ import annotations

import dataclasses
from typing import Any

from gpusim.errors import TechniqueError
from gpusim.hardware.simulate import simulate_kernel
from gpusim.program import KernelProgram
from gpusim.scenario.loader import from_data
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.technique import Technique
from gpusim.timeline import Timeline

__all__ = ["predict", "predict_params", "serial_baseline"]


def predict(scenario: Scenario, *, exact: bool = False, trace: bool = True) -> Timeline:
    """The predicted timeline of a scenario; seconds from the start of the launch.

    ``exact`` simulates every tile instead of extrapolating a periodic loop; without
    ``trace`` only ``meta`` is filled. ``meta`` carries the resolved scenario.

    Raises DoesNotFit, HazardError, Deadlock, ProfileError, TechniqueError.
    """
    program = scenario.program()
    if not isinstance(program, KernelProgram):
        raise TechniqueError(f"{scenario.technique.name} is a host program; those cannot be predicted yet")
    timeline = simulate_kernel(program, scenario.profile(), exact=exact, trace=trace)
    return timeline.with_meta(**_identity(scenario))


def predict_params(
    technique: Technique, params: Any, device: str, *, exact: bool = False, trace: bool = True
) -> Timeline:
    """The predicted timeline of a technique with given ``Params``; as `predict` otherwise."""
    data = {
        "question": technique.title,
        "device": device,
        "kernel": {"technique": technique.name, "params": dataclasses.asdict(params)},
    }
    return predict(from_data(data, technique.name), exact=exact, trace=trace)


def serial_baseline(scenario: Scenario) -> Scenario:
    """The same work with a single stage, so that within a CTA nothing overlaps.

    A technique without stages is its own baseline. In a spelled-out kernel every ring gets
    one stage and nothing runs ahead. Raises ScenarioError where one stage is not allowed.
    """
    data = scenario.resolved()
    kernel = data["kernel"]
    if scenario.technique is not None:
        if "stages" not in kernel["params"]:
            return scenario
        kernel["params"]["stages"] = 1
    else:
        for ring in kernel.get("rings", {}).values():
            ring["stages"] = 1
        for role in kernel["roles"].values():
            _run_in_step(role)
    return from_data(data, f"{scenario.name} without overlap")


def _run_in_step(role: dict[str, Any]) -> None:
    for part in ("prologue", "per_tile", "epilogue"):
        for step in role[part]:
            for word, arguments in step.items():
                arguments["ahead"] = 0
                if word == "wait_group":
                    arguments["pending"] = 0


def _identity(scenario: Scenario) -> dict[str, Any]:
    technique = scenario.technique
    return {
        "scenario": scenario.resolved(),
        "scenario_hash": scenario.hash,
        "technique": technique.name if technique else None,
        "params": dataclasses.asdict(scenario.params) if technique else {},
    }
