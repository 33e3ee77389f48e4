"""Recordings next to the predictions they are compared with."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, overload

from gpusim.errors import RecordingError
from gpusim.scenario import Scenario, predict, predict_params, techniques
from gpusim.scenario.kinds import STAGES
from gpusim.scenario.sweeps.parallel import Progress, run_parallel
from gpusim.scenario.technique import Technique
from gpusim.timeline import Timeline, TimelineBuilder
from gpusim.timeline.first_call import from_first_call
from gpusim.validation.band import DEFAULT_BAND, GAPS, Band, known_gaps
from gpusim.validation.comparison import Comparison, compare_timelines
from gpusim.validation.recorded_steps import steps_told
from gpusim.validation.recording import (
    TIMELINES,
    TOTALS,
    TotalRow,
    Totals,
    find_total,
    is_stale,
    list_timelines,
    load_timeline,
    recorded_devices,
    recordings_folder,
)
from gpusim.validation.report import RecordedCase
from gpusim.validation.unlike_work import unlike_work

__all__ = [
    "Measurement", "all_cases", "compare", "compare_own", "compare_with", "measurement_of", "measurements",
    "recordings_stamp",
]  # fmt: skip


@dataclass(frozen=True)
class Measurement:
    """One recorded parameter set of a technique: its run time and, for some, its timeline."""

    technique: Technique
    device: str
    row: TotalRow

    @property
    def params(self) -> Mapping[str, Any]:
        """All parameters, by name."""
        return self.row.params

    @property
    def total_s(self) -> float:
        """Median of the un-instrumented runs, seconds."""
        return self.row.total_s

    @property
    def spread(self) -> float:
        """Distance of the quartiles over the median."""
        return self.row.iqr_s / self.row.total_s

    @property
    def rings(self) -> tuple[str, ...]:
        """Names of the parameters that say how many stages a ring has."""
        return tuple(self.technique.named(*STAGES))

    @property
    def stale(self) -> bool:
        """The kernel's source has changed since."""
        return is_stale(self.technique, self.row)

    @property
    def has_timeline(self) -> bool:
        """Whether intervals were recorded, not only the run time."""
        return self._timeline_name() is not None

    def timeline(self) -> Timeline:
        """The measured timeline; without intervals where only the run time was recorded.

        ``meta['total_s']`` is the un-instrumented run time. Raises RecordingError.
        """
        name = self._timeline_name()
        recorded = TimelineBuilder().build() if name is None else from_first_call(load_timeline(self._file(), name))
        return recorded.with_meta(
            source="measured", device=self.device, technique=self.technique.name, params=dict(self.params),
            total_s=self.total_s, spread=self.spread,
        )  # fmt: skip

    def _file(self) -> Path:
        return recordings_folder(self.technique) / self.device / TIMELINES

    def _timeline_name(self) -> str | None:
        path = self._file()
        if not path.exists():
            return None
        known = _timeline_params(path, path.stat().st_mtime_ns)
        return next((name for name, params in known if params == dict(self.params)), None)


@lru_cache(maxsize=64)
def _timeline_params(path: Path, _modified: int) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple((name, meta.get("params", {})) for name, meta in list_timelines(path).items())


def measurements(name: str | None = None) -> list[Measurement]:
    """Everything recorded for every installed technique, or for the one called ``name``.

    Raises RecordingError for a broken file.
    """
    return [
        Measurement(technique, device, row)
        for technique in techniques().values()
        if name in (None, technique.name)
        for device in recorded_devices(technique)
        if (path := recordings_folder(technique) / device / TOTALS).exists()
        for row in Totals.load(path).rows
    ]


@overload
def measurement_of(scenario: Scenario, *, required: Literal[True]) -> Measurement: ...
@overload
def measurement_of(scenario: Scenario, *, required: bool = False) -> Measurement | None: ...
def measurement_of(scenario: Scenario, *, required: bool = False) -> Measurement | None:
    """What was measured with exactly the scenario's parameters on its device.

    None, or RecordingError if ``required``, where there is nothing, or where the scenario
    changes the device, because nobody can have measured that.
    """
    technique = scenario.technique
    if technique is not None and not scenario.model.device.set:
        row = find_total(technique, scenario.params, scenario.recorded_device)
        if row is not None:
            return Measurement(technique, scenario.recorded_device, row)
    if required:
        raise RecordingError(f"nothing to compare with: {_nothing_recorded(scenario)}")
    return None


def recordings_stamp(scenario: Scenario) -> tuple[tuple[str, int], ...]:
    """Files from which recordings of the scenario's technique on its device are read, and when each was changed."""
    technique = scenario.technique
    if technique is None:
        return ()
    folder = recordings_folder(technique) / scenario.recorded_device
    files = (folder / TOTALS, folder / TIMELINES, technique.folder / GAPS)
    return tuple((str(file), file.stat().st_mtime_ns) for file in files if file.exists())


def _nothing_recorded(scenario: Scenario) -> str:
    technique = scenario.technique
    if technique is None:
        return f"{scenario.nothing_real} and so no recording; give yours with --total TIME or --measured FILE"
    if scenario.model.device.set:
        return f"the scenario changes {', '.join(scenario.model.device.set)} of {scenario.recorded_device}"
    devices = recorded_devices(technique)
    if scenario.recorded_device not in devices:
        known = ", ".join(devices) or "no device"
        return f"{technique.name} is recorded on {known}, not on {scenario.recorded_device}"
    rows = Totals.load(recordings_folder(technique) / scenario.recorded_device / TOTALS).rows
    wanted = dataclasses.asdict(scenario.params)
    closest = max(rows, key=lambda row: sum(row.params.get(k) == v for k, v in wanted.items()), default=None)
    if closest is None:
        return f"no parameters of {technique.name} are recorded on {scenario.recorded_device}"
    differences = ", ".join(
        f"kernel.params.{name}={closest.params.get(name)}" for name, value in wanted.items()
        if closest.params.get(name) != value
    )  # fmt: skip
    return f"these parameters are not recorded on {scenario.recorded_device}; the nearest recording has {differences}"


def compare_with(predicted: Timeline, measurement: Measurement, *, band: Band = DEFAULT_BAND) -> Comparison:
    """Compare a prediction with one measurement, minding the gaps that its technique declares.

    The kernel of a measured timeline took time stamps: it is predicted once more, with stamps where it told its steps.
    """
    gaps = known_gaps(measurement.technique.folder)
    reason = next((gap.reason for gap in gaps if gap.covers(measurement.device, measurement.params)), "")
    # Both sides do the same work; the recording does not repeat how much that is.
    work = {name: predicted.meta[name] for name in ("bytes_read", "bytes_written", "flop") if name in predicted.meta}
    measured = measurement.timeline().with_meta(**work)
    stamped, stamps = None, steps_told(measured)
    if stamps:
        technique = measurement.technique
        params = technique.make_params(dict(measurement.params))
        stamped = predict_params(technique, params, measurement.device, stamps=stamps)
    return compare_timelines(predicted, measured, stamped=stamped, band=band, gap=reason)


def compare_own(scenario: Scenario, predicted: Timeline, measured: Timeline, *, exact: bool = False) -> Comparison:
    """Compare ``predicted``, that of ``scenario``, with a timeline of the user's own, which may have taken stamps.

    Nobody has checked that it is of the same work: `Comparison.unlike` tells where it is not.
    """
    stamps = steps_told(measured)
    stamped = predict(scenario, exact=exact, stamps=stamps) if stamps else None
    comparison = compare_timelines(predicted, measured, stamped=stamped)
    return dataclasses.replace(comparison, unlike=unlike_work(scenario.program(), predicted, measured))


def compare(scenario: Scenario, *, exact: bool = False) -> Comparison:
    """Predict a scenario and compare it with its recording. Raises RecordingError without one."""
    measurement = measurement_of(scenario, required=True)
    return compare_with(predict(scenario, exact=exact), measurement)


def all_cases(*, workers: int | None = None, progress: Progress | None = None) -> list[RecordedCase]:
    """Every measurement with its comparison, in the order of `measurements`; intervals are dropped to save memory."""
    jobs = [(index, entry.technique.name, entry.device, entry.row) for index, entry in enumerate(measurements())]
    found = []
    for case in run_parallel(_case, jobs, workers=workers):
        found.append(case)
        if progress:
            progress(len(found), len(jobs))
    # Processes finish in any order; the report must not depend on it.
    return [case for _, case in sorted(found, key=lambda entry: entry[0])]


def _case(job: tuple[int, str, str, TotalRow]) -> tuple[int, RecordedCase]:
    index, name, device, row = job
    technique = techniques()[name]
    measurement = Measurement(technique, device, row)
    params = technique.make_params(dict(row.params))
    predicted = predict_params(technique, params, device, trace=measurement.has_timeline)
    comparison = compare_with(predicted, measurement)
    slim = {side: TimelineBuilder().build(**getattr(comparison, side).meta) for side in ("predicted", "measured")}
    comparison = dataclasses.replace(comparison, **slim)
    case = RecordedCase(
        name, device, dict(row.params), comparison, measurement.spread, measurement.stale, measurement.rings
    )
    return index, case
