"""A scenario with its prediction and what that stands against, as a case of the page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from gpusim.dashboard.figure.recorded import tiles_kept
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.page.case import MEASURED, OWN_POINT, UNCHANGED, Asked, Case, Cost, Numbers, Point
from gpusim.dashboard.page.facts import (
    badges_of,
    bottleneck_text,
    facts_of,
    measured_note,
    occupancy_text,
    parameter_text,
    predicted_note,
    unmeasured_text,
)
from gpusim.dashboard.page.imports import Imported
from gpusim.errors import GpusimError
from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram
from gpusim.scenario import Scenario, predict
from gpusim.scenario.prediction import serial_baseline
from gpusim.timeline import Timeline
from gpusim.timeline.metrics import outside_of_kernels, summary
from gpusim.validation import Measurement, compare_own, compare_with, measurement_of

__all__ = ["baseline_of", "build_case", "serial_seconds", "with_speedup"]

MOST_INTERVALS = 300_000
"""So many are drawn without a thought; a host program with more of them shows kernels as bars alone."""


def build_case(
    asked: Asked,
    own: Scenario,
    scenario: Scenario,
    whole: Timeline,
    points: Mapping[str, Measurement],
    unchanged: Case | None = None,
    imported: Imported | None = None,
    baseline: bool = False,
) -> Case:
    """``scenario``, which is ``own`` as ``asked`` for, with its prediction ``whole`` and what that stands against.

    ``unchanged``: the case without the changes, if there are any. ``imported`` takes the place of a recording.
    ``baseline``: there is one without overlap, over which `with_speedup` tells the gain. Raises GpusimError.
    """
    predicted = outside_of_kernels(whole)
    shown = whole if len(whole) <= MOST_INTERVALS else predicted
    measurement = measurement_of(scenario)
    program = scenario.program()
    known = measurement is not None or imported is not None
    against = asked.against or (MEASURED if known or unchanged is None else UNCHANGED)
    if unchanged is None or (against == MEASURED and known):
        other = _measured(predicted, measurement, imported, scenario) if known else {}
        against = MEASURED
    else:
        other = _without_changes(unchanged)
    track = other.get("other")
    badges = badges_of(
        scenario, predicted, measurement, track.timeline if track and against == MEASURED else None,
        point=asked.point != OWN_POINT, changes=asked.changes, edited=asked.text is not None,
        imported=imported.file if imported else "",
    )  # fmt: skip
    notes = {"predicted": predicted_note(predicted)}
    if track is not None:
        notes["measured"] = measured_note(track.timeline) if against == MEASURED else unchanged.side_notes["predicted"]
    # What the same work without overlap has one of.
    single = "one stage" if isinstance(program, KernelProgram) else "one stream, in turn"
    return Case(
        name=own.name,
        question=scenario.question,
        facts=facts_of(scenario),
        predicted=Track(shown, "predicted", "what if" if asked.altered else ""),
        predicted_numbers=_numbers(predicted),
        against=against,
        **({"other": None} | other),
        unmeasured=unmeasured_text(scenario, asked.changes, in_file=asked.text is None) if not known else "",
        baseline=single if baseline else "",
        **bottleneck_text(predicted),
        **occupancy_text(predicted, scenario),
        warps={role.name: role.warps for role in program.roles} if isinstance(program, KernelProgram) else {},
        cost=_cost(program),
        badges=badges,
        points=_choices(own, points),
        point=asked.point,
        changes=asked.changes,
        altered=asked.altered,
        recorded=measurement is not None,
        imported=imported.file if imported else "",
        side_notes=notes,
    )


def baseline_of(scenario: Scenario) -> Scenario | None:
    """Its work without overlap; None where there is no such thing."""
    try:
        return serial_baseline(scenario)
    except GpusimError:
        return None


def serial_seconds(baseline: Scenario) -> float | None:
    """Seconds of it; None where it cannot run: what needs two stages waits for ever with one."""
    try:
        return predict(baseline, trace=False).total_s
    except GpusimError:
        return None


def with_speedup(case: Case, serial_s: float | None) -> Case:
    """``case`` with its gain over the same work without overlap, which takes ``serial_s``; None: that cannot run."""
    if serial_s is None:
        return dataclasses.replace(case, baseline="")
    numbers = dataclasses.replace(case.predicted_numbers, speedup=serial_s / case.predicted.timeline.total_s)
    return dataclasses.replace(case, predicted_numbers=numbers)


def _cost(program: KernelProgram | HostProgram) -> Cost | None:
    if not isinstance(program, KernelProgram):
        return None
    return Cost(program.shared_bytes, program.registers, program.warps)


def _measured(
    predicted: Timeline, measurement: Measurement | None, imported: Imported | None, scenario: Scenario
) -> dict[str, Any]:
    """What a case says of its recording, or of the trace in its place."""
    if imported is not None:
        comparison = compare_own(scenario, predicted, imported.timeline)
    else:
        comparison = compare_with(predicted, measurement)
    found: dict[str, Any] = {
        "band": comparison.band.worst, "hidden_band": comparison.band.hidden, "gap": comparison.gap,
        "unlike": comparison.unlike,
    }  # fmt: skip
    hidden = comparison.metric("hidden_fraction")
    if hidden is not None and comparison.unstamped_hidden is not None:
        found |= {"stamped_hidden": hidden.predicted, "watched": comparison.watched}
    measured, more = _with_tiles(comparison.measured, scenario), {}
    if imported is None:
        more = {"spread": measurement.spread, "range_s": (measurement.row.min_s, measurement.row.max_s)}
    found["other_numbers"] = _numbers(measured, **more)
    return found | {"other": Track(measured, "measured") if len(measured) else None}


def _without_changes(unchanged: Case) -> dict[str, Any]:
    """What a case says of the prediction without the changes, which takes the place of a recording."""
    track = Track(unchanged.predicted.timeline, "measured", UNCHANGED)
    return {"other": track, "other_numbers": unchanged.predicted_numbers}


def _with_tiles(measured: Timeline, scenario: Scenario) -> Timeline:
    """The recording with the number of tiles that a CTA of its kernel has: a probe may have kept fewer."""
    program = scenario.program()
    if not isinstance(program, KernelProgram):
        return measured
    tiles = program.tiles_per_cta
    return measured.with_meta(tiles_per_cta=tiles if isinstance(tiles, int) else max(tiles))


def _numbers(timeline: Timeline, **more: Any) -> Numbers:
    found = summary(timeline)
    names = ("total_s", "hidden_fraction", "exposed_s", "period_s")
    shown = {name: found[name] for name in names}
    if not len(timeline):
        shown |= dict.fromkeys(("hidden_fraction", "exposed_s", "period_s"))
    elif tiles_kept(timeline):
        shown["exposed_s"] = None  # a sum over part of the run says nothing beside one over all of it
    return Numbers(**shown, **more)


def _choices(own: Scenario, points: Mapping[str, Measurement]) -> tuple[Point, ...]:
    mine = dataclasses.asdict(own.params) if own.params is not None else {}
    choices = [Point(OWN_POINT, "parameters of the scenario")]
    others = {key: m for key, m in points.items() if dict(m.params) != mine}
    texts = {key: parameter_text(type(own.params), m.params) for key, m in others.items()}
    # The first parameters that tell all points apart are enough for a label.
    longest = max((len(text) for text in texts.values()), default=0)
    least = min(4, longest)
    enough = next(
        (n for n in range(least, longest) if len({text[:n] for text in texts.values()}) == len(texts)), longest
    )
    return (*choices, *(Point(key, " · ".join(text[:enough])) for key, text in texts.items()))
