"""Scenario files to cases: the only module here that predicts, and that reads recordings.

Results are kept in memory by scenario hash, so that a zoom costs no prediction.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from gpusim.dashboard.case import OWN_POINT, Case, CaseError, Entry, Numbers, Point
from gpusim.dashboard.facts import (
    badges_of,
    bottleneck_text,
    facts_of,
    measured_note,
    occupancy_text,
    parameter_text,
    predicted_note,
    unmeasured_text,
)
from gpusim.dashboard.recorded import tiles_kept
from gpusim.dashboard.track import Track
from gpusim.errors import Deadlock, GpusimError
from gpusim.program import KernelProgram
from gpusim.scenario import Advice, Scenario, advise, answer, from_data, load
from gpusim.timeline import Timeline
from gpusim.timeline.metrics import summary
from gpusim.validation import Measurement, compare_with, measurement_of, measurements

__all__ = ["ScenarioFolder"]

MOST_CASES = 24
Made = TypeVar("Made")
_LOG = logging.getLogger(__name__)


class ScenarioFolder:
    """The scenarios of one folder as a `Source`; nothing outside of it is read by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cases: OrderedDict[tuple, Case] = OrderedDict()
        self._questions: dict[Path, tuple[int, Entry]] = {}
        self._busy = threading.Lock()
        self._advice: OrderedDict[tuple, Advice] = OrderedDict()
        self._advising = threading.Lock()  # of its own: a zoom must not wait for a dozen predictions

    def _paths(self) -> dict[str, Path]:
        files = (path for pattern in ("*.yaml", "*.yml") for path in self.folder.glob(pattern))
        return {path.stem: path for path in sorted(files) if path.is_file()}

    def entries(self) -> list[Entry]:
        """One entry per file, in name order; a file that cannot be read says so."""
        return [self._entry(path) for path in self._paths().values()]

    def _entry(self, path: Path) -> Entry:
        changed = path.stat().st_mtime_ns
        known = self._questions.get(path)
        if known is None or known[0] != changed:
            try:
                scenario = load(path)
                measurement = measurement_of(scenario)
                recorded = 0 if measurement is None else 2 if measurement.has_timeline else 1
                entry = Entry(path.stem, scenario.question, recorded=recorded)
            except (GpusimError, OSError) as error:
                entry = Entry(path.stem, "", str(error))
            known = self._questions[path] = (changed, entry)
        return known[1]

    def case(self, name: str, point: str = "") -> Case:
        """The scenario called ``name``, or its technique at a recorded point. Raises CaseError."""
        return self._asked(name, self._busy, lambda own: self._case(own, point or OWN_POINT))

    def advice(self, name: str, point: str = "") -> Advice:
        """What changes of it would gain. Raises CaseError."""
        timeline = self.case(name, point).predicted.timeline
        return self._asked(name, self._advising, lambda own: self._advise(own, point or OWN_POINT, timeline))

    def _asked(self, name: str, lock: threading.Lock, make: Callable[[Scenario], Made]) -> Made:
        paths = self._paths()
        if not paths:
            message = f"{self.folder} holds no scenario (*.yaml). Write one, or name another folder with --scenarios."
            raise CaseError(message, "No scenarios")
        if name not in paths:
            raise CaseError(f"There is no scenario called {name!r} in {self.folder}.", "Unknown scenario")
        try:
            with lock:
                return make(load(paths[name]))
        except CaseError:
            raise
        except GpusimError as error:
            raise CaseError(str(error), _title(error, name)) from error
        except OSError as error:
            raise CaseError(f"{paths[name]} cannot be read: {error.strerror}") from error
        except Exception as error:
            # A page shows a sentence; the traceback belongs in the server's log.
            _LOG.exception("scenario %s", name)
            raise CaseError(f"{type(error).__name__}: {error}", f"{name}: an error inside gpusim") from error

    def _case(self, own: Scenario, point: str) -> Case:
        points = _points(own)
        scenario = _pointed(own, point, points)
        key = (own.name, own.question, scenario.hash, point)
        return _kept(self._cases, key, lambda: _build(own, scenario, point, points))

    def _advise(self, own: Scenario, point: str, timeline: Timeline) -> Advice:
        scenario = _pointed(own, point, _points(own))
        # In place: starting processes beside a server's threads takes longer than most advice.
        return _kept(self._advice, (scenario.hash,), lambda: advise(scenario, timeline, workers=1))


def _pointed(own: Scenario, point: str, points: Mapping[str, Measurement]) -> Scenario:
    """The scenario itself, or at one of its recorded points."""
    if point == OWN_POINT:
        return own
    if point not in points:
        raise CaseError(f"{own.name} has no recorded point {point!r}.", "Unknown recorded point")
    return _at(own, points[point])


def _kept(known: OrderedDict[tuple, Made], key: tuple, make: Callable[[], Made]) -> Made:
    """What is known under ``key``, made if need be; the oldest of too many goes."""
    if key not in known:
        known[key] = make()
    known.move_to_end(key)
    while len(known) > MOST_CASES:
        known.popitem(last=False)
    return known[key]


def _title(error: Exception, name: str) -> str:
    if isinstance(error, Deadlock):
        return f"{name} deadlocks"
    return f"{name} cannot be shown"


def _points(scenario: Scenario) -> dict[str, Measurement]:
    """Recorded timelines of the scenario's technique on its device, by a key that suits an address."""
    technique = scenario.technique
    if technique is None or scenario.model.device.set:
        return {}
    found = [
        m for m in measurements()
        if m.technique.name == technique.name and m.device == scenario.recorded_device and m.has_timeline
    ]  # fmt: skip
    return {",".join(f"{k}={v}" for k, v in _distinct(m, found).items()) or f"p{i}": m for i, m in enumerate(found)}


def _distinct(measurement: Measurement, among: list[Measurement]) -> Mapping[str, Any]:
    """The parameters that tell a measurement from the others."""
    return {
        name: value for name, value in measurement.params.items() if len({str(m.params.get(name)) for m in among}) > 1
    }


def _at(scenario: Scenario, measurement: Measurement) -> Scenario:
    kernel = {"technique": measurement.technique.name, "params": dict(measurement.params)}
    data = {"question": scenario.question, "device": scenario.device, "kernel": kernel}
    return from_data(data, scenario.source.name)


def _build(own: Scenario, scenario: Scenario, point: str, points: Mapping[str, Measurement]) -> Case:
    reply = answer(scenario)
    predicted = reply.timeline
    measurement = measurement_of(scenario)
    measured: Timeline | None = None
    numbers, compared, gap = None, {}, ""
    if measurement is not None:
        comparison = compare_with(predicted, measurement)
        compared, gap = {"band": comparison.band.worst, "hidden_band": comparison.band.hidden}, comparison.gap
        hidden = comparison.metric("hidden_fraction")
        if hidden is not None and comparison.unstamped_hidden is not None:
            compared["stamped_hidden"] = hidden.predicted
        measured = _with_tiles(comparison.measured, scenario)
        row = measurement.row
        numbers = _numbers(measured, spread=measurement.spread, range_s=(row.min_s, row.max_s))
    has_lanes = measured is not None and len(measured) > 0
    program = scenario.program()
    # What the same work without overlap has one of.
    baseline = "one stage" if isinstance(program, KernelProgram) else "one stream"
    return Case(
        name=own.name,
        question=own.question,
        facts=facts_of(scenario),
        predicted=Track(predicted, "predicted"),
        measured=Track(measured, "measured") if has_lanes else None,
        predicted_numbers=_numbers(predicted, speedup=reply.speedup_vs_serial),
        measured_numbers=numbers,
        **compared,
        unmeasured=unmeasured_text(scenario) if measurement is None else "",
        gap=gap,
        baseline=baseline if reply.serial_s is not None else "",
        **bottleneck_text(predicted),
        **occupancy_text(predicted, scenario),
        warps={role.name: role.warps for role in program.roles} if isinstance(program, KernelProgram) else {},
        badges=badges_of(scenario, predicted, measurement, measured if has_lanes else None, other=point != OWN_POINT),
        points=_choices(own, points),
        point=point,
        side_notes={"predicted": predicted_note(predicted), "measured": measured_note(measured) if has_lanes else ""},
    )


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
