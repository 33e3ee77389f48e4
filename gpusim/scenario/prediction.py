"""Predicting a scenario, and the same work without overlap to compare it with."""

from __future__ import annotations

import dataclasses
from typing import Any

from gpusim.hardware.launch.simulate import simulate_kernel
from gpusim.host import simulate_host
from gpusim.program import KernelProgram, Turns, with_time_stamps
from gpusim.scenario.blame import placed
from gpusim.scenario.kernel.op_schema import REPEAT
from gpusim.scenario.kernel.schema import PARTS
from gpusim.scenario.kinds import STAGES, Kind
from gpusim.scenario.loader import from_data
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.technique import Technique
from gpusim.scenario.work import same_work, work_of
from gpusim.timeline import Timeline

__all__ = ["predict", "predict_params", "serial_baseline"]


def predict(
    scenario: Scenario,
    *,
    exact: bool = False,
    trace: bool = True,
    zoom: bool = False,
    stamps: Turns | None = None,
) -> Timeline:
    """The predicted timeline of a scenario; seconds from the start of the launch, or from the first call.

    ``exact`` simulates every tile instead of extrapolating a periodic loop; without ``trace`` only ``meta`` is
    filled. With ``zoom`` the kernels that a host program spells out are shown down to their warps. ``stamps``: the
    steps of each role that begin with a time stamp, as in a kernel that is recorded. ``meta`` carries the resolved
    scenario.

    Raises DoesNotFit, HazardError, Deadlock, ProfileError, TechniqueError.
    """
    with placed(scenario):
        program, profile = scenario.program(), scenario.profile()
        if isinstance(program, KernelProgram):
            program = with_time_stamps(program, stamps) if stamps else program
            timeline = simulate_kernel(program, profile, exact=exact, trace=trace)
        else:
            timeline = simulate_host(program, profile, host=scenario.host_api, exact=exact, trace=trace, zoom=zoom)
    return timeline.with_meta(**_identity(scenario))


def predict_params(
    technique: Technique,
    params: Any,
    device: str,
    *,
    exact: bool = False,
    trace: bool = True,
    stamps: Turns | None = None,
) -> Timeline:
    """The predicted timeline of a technique with given ``Params``; as `predict` otherwise."""
    data = {
        "question": technique.title,
        "device": device,
        "kernel": {"technique": technique.name, "params": dataclasses.asdict(params)},
    }
    return predict(from_data(data, technique.name), exact=exact, trace=trace, stamps=stamps)


def serial_baseline(scenario: Scenario) -> Scenario | None:
    """The scenario's work with one stage in every ring, or in a single stream.

    So nothing overlaps within a CTA, or between streams. In a spelled-out host program everything is in one stream, in
    which no kernel begins while the one ahead runs; in a spelled-out kernel every ring gets one stage and nothing runs
    ahead. None where that changes nothing, or the work as well (a technique in which each stream brings its own).
    Raises ScenarioError where one stage is not allowed.
    """
    found = from_data(_serial(scenario), f"{scenario.name} without overlap")
    if found.hash == scenario.hash or not same_work(work_of(found.program()), work_of(scenario.program())):
        return None
    return found


def _serial(scenario: Scenario) -> dict[str, Any]:
    data = scenario.resolved()
    if scenario.model.host is not None:
        return {**data, "host": _one_stream(data["host"])}
    kernel = data["kernel"]
    if scenario.technique is not None:
        kernel["params"] |= dict.fromkeys(scenario.technique.named(*STAGES, Kind.STREAMS), 1)
        return data
    for ring in kernel.get("rings", {}).values():
        ring["stages"] = 1
    for role in kernel["roles"].values():
        for part in PARTS:
            _run_in_step(role[part])
    return data


def _one_stream(host: dict[str, Any]) -> dict[str, Any]:
    """The host program with all its calls in the first stream, one after the other."""
    alone = {"stream": next(iter(host.get("streams", {"s0": {}}))), "programmatic": False}

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(item) for item in value]
        if isinstance(value, dict):
            return {key: alone.get(key, moved(item)) for key, item in value.items()}
        return value

    threads = {name: moved({**thread, "deal": [alone["stream"]]}) for name, thread in host["threads"].items()}
    return {**host, "threads": threads, "graphs": moved(host.get("graphs", {}))}


def _run_in_step(steps: list[dict[str, Any]]) -> None:
    for step in steps:
        for word, arguments in step.items():
            if word == REPEAT:
                _run_in_step(arguments["ops"])
                continue
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
