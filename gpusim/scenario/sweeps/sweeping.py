"""Many what-ifs at once: in parallel, resumable, ranked.

Points are sent to the workers as resolved plain data. Every result is appended to a file of JSON lines as it comes,
under a key of scenario, device numbers and version; what is in the file is not run again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gpusim.errors import GpusimError
from gpusim.scenario.lever_kinds import levers_of
from gpusim.scenario.loader import from_data
from gpusim.scenario.prediction import predict
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.schema import TechniqueKernel
from gpusim.scenario.sweeps.axes import Axes
from gpusim.scenario.sweeps.groups import SweepGroup, groups_of, work_axes
from gpusim.scenario.sweeps.parallel import Progress, run_parallel
from gpusim.scenario.sweeps.points import sweep_points
from gpusim.scenario.sweeps.yardstick import Yardstick, yardstick_of
from gpusim.scenario.technique import technique
from gpusim.scenario.work import work_of
from gpusim.timeline.metrics import summary
from gpusim.version import __version__

__all__ = ["SweepPoint", "SweepResult", "sweep"]


@dataclass(frozen=True)
class SweepPoint:
    """One point: what was set, and the metrics (see `gpusim.timeline.metrics.summary`) or the error.

    ``work``: how much it does, as `work_of` has it; without what fusing kernels would spare.
    """

    index: int
    point: dict[str, Any]
    key: str
    metrics: dict[str, float | None]
    error: str = ""
    work: dict[str, float] = field(default_factory=dict)

    @property
    def total_s(self) -> float:
        """Predicted duration; infinite where the point cannot run."""
        total = self.metrics.get("total_s")
        return float("inf") if total is None else total


@dataclass(frozen=True)
class SweepResult:
    """All points in the order of the sweep."""

    points: tuple[SweepPoint, ...]

    @property
    def ranked(self) -> tuple[SweepPoint, ...]:
        """The points that ran, the best by the `yardstick` first; ties keep the order of the sweep."""
        place = self.yardstick.place
        return tuple(sorted(self._ran, key=lambda point: place(point.total_s, point.work)))

    @property
    def yardstick(self) -> Yardstick:
        """Whether time alone says which point is better, or they do different amounts of work."""
        return yardstick_of(point.work for point in self._ran)

    @cached_property
    def work_axes(self) -> tuple[str, ...]:
        """Paths of the axes that change the work, as the points show it; the others are levers."""
        return work_axes(self._ran)

    @cached_property
    def groups(self) -> tuple[SweepGroup[SweepPoint], ...]:
        """The points that ran, those of the same work together: a setting of the `work_axes` each."""
        return groups_of(self._ran, self.work_axes)

    @property
    def _ran(self) -> list[SweepPoint]:
        return [point for point in self.points if not point.error]

    @property
    def best(self) -> SweepPoint | None:
        """The quickest, or None when none ran or points do unlike work: each of the `groups` has a best one then."""
        return self.ranked[0] if self.ranked and not self.work_axes else None


def sweep(
    scenario: Scenario,
    axes: Axes | None = None,
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    exact: bool = False,
    trace: bool = False,
    dask: str | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Predict every point of ``axes`` (default: the scenario's own ``sweep``).

    ``trace`` also records intervals, which the overlap metrics need. ``workers`` is the
    number of processes, ``dask`` the address of a scheduler to use instead. A point that
    does not fit or deadlocks is kept with its error.

    Raises ScenarioError for a point that is not a valid scenario and for too many points, GpusimError when Dask is not
    installed or not there, and for an ``output`` that holds something else or is in a folder that does not exist.
    """
    if output and not Path(output).parent.is_dir():
        raise GpusimError(f"{output}: there is no folder {Path(output).parent}")
    done = _finished(Path(output)) if output else {}
    found = enumerate(sweep_points(scenario, axes))
    jobs = [_Job.of(index, point, changed, exact, trace) for index, (point, changed) in found]
    results = {job.index: job.result(*done[job.key]) for job in jobs if job.key in done}
    todo = [job for job in jobs if job.index not in results]
    with _Appender(output) as append:
        for result in run_parallel(_run, todo, workers=workers, dask=dask):
            results[result.index] = result
            append(result)
            if progress:
                progress(len(results), len(jobs))
    return SweepResult(_fused(tuple(results[index] for index in sorted(results)), _fusing(scenario)))


def _fusing(scenario: Scenario) -> frozenset[str]:
    """Paths of parameters that only fuse kernels: the technique vouches that the result is the same."""
    kernel = scenario.model.kernel
    if not isinstance(kernel, TechniqueKernel):
        return frozenset()
    fields = {field.name: field for field in dataclasses.fields(technique(kernel.technique).params)}
    return frozenset(f"kernel.params.{name}" for name, lever in levers_of(fields).items() if lever.fuses)


def _fused(points: tuple[SweepPoint, ...], fusing: frozenset[str]) -> tuple[SweepPoint, ...]:
    """``points`` with the work of the leanest of those that differ only in what is fused: the rest is no work."""

    def rest(point: SweepPoint) -> str:
        return json.dumps({path: value for path, value in point.point.items() if path not in fusing}, default=str)

    if not fusing:
        return points
    leanest: dict[str, dict[str, float]] = {}
    for point in sorted(points, key=lambda point: point.work.get("bytes moved", 0.0)):
        if not point.error:
            leanest.setdefault(rest(point), point.work)
    return tuple(dataclasses.replace(point, work=leanest.get(rest(point), point.work)) for point in points)


@dataclass(frozen=True)
class _Job:
    index: int
    point: dict[str, Any]
    key: str
    data: dict[str, Any]
    exact: bool
    trace: bool

    @classmethod
    def of(cls, index: int, point: dict[str, Any], scenario: Scenario, exact: bool, trace: bool) -> _Job:
        identity = json.dumps([*scenario.identity, __version__, exact, trace])
        key = hashlib.sha256(identity.encode()).hexdigest()[:24]
        return cls(index, point, key, scenario.resolved(), exact, trace)

    def result(self, metrics: dict[str, float | None], error: str, work: dict[str, float]) -> SweepPoint:
        return SweepPoint(self.index, self.point, self.key, metrics, error, work)

    def run(self) -> SweepPoint:
        try:
            scenario = from_data(self.data)
            timeline = predict(scenario, exact=self.exact, trace=self.trace)
        except GpusimError as error:
            return self.result({}, error.message, {})
        return self.result(summary(timeline), "", work_of(scenario.program()))


def _run(job: _Job) -> SweepPoint:
    return job.run()


def _finished(path: Path) -> dict[str, tuple[dict[str, float | None], str, dict[str, float]]]:
    """Metrics, error and work by key, from a file of JSON lines; a line that is damaged, as by a crash, is skipped.

    Raises GpusimError if the file is another one, to which nothing should be appended.
    """
    found = {}
    if path.exists():
        text = path.read_text(encoding="utf-8", errors="replace")
        if text and not text.startswith(_ROW[: len(text)]):
            raise GpusimError(f"{path}: holds something else than the points of a sweep (allowed: a file of "
                              "`gpusim sweep --output`, or a new one)")  # fmt: skip
        for line in text.splitlines():
            try:
                row = json.loads(line)
                metrics, error, work = row["metrics"], row["error"], row["work"]
                if isinstance(error, str) and _are_numbers(metrics) and _are_numbers(work):
                    found[row["key"]] = (metrics, error, work)
            except (ValueError, KeyError, TypeError):
                continue
    return found


def _are_numbers(amounts: Any) -> bool:
    """Whether it is numbers by name, some of which may not be known."""
    values = amounts.values() if isinstance(amounts, dict) else ("",)
    return all(value is None or isinstance(value, int | float) for value in values)


_ROW = '{"key": '
"""How each line of a file of results begins, as `_Appender` writes it."""


class _Appender:
    """Writes results to a file of JSON lines, one flush per line; does nothing without a file."""

    def __init__(self, path: str | Path | None) -> None:
        self._path = Path(path) if path else None
        self._stream = None

    def __enter__(self) -> Callable[[SweepPoint], None]:
        if self._path:
            written = self._path.read_bytes() if self._path.exists() else b""
            self._stream = self._path.open("a", encoding="utf-8")
            if written and not written.endswith(b"\n"):
                self._stream.write("\n")  # an interrupted line must not swallow the next one
        return self._append

    def _append(self, result: SweepPoint) -> None:
        if self._stream:
            row = {"key": result.key, "point": result.point, "metrics": result.metrics, "error": result.error}
            row["work"] = result.work
            self._stream.write(json.dumps(row) + "\n")
            self._stream.flush()

    def __exit__(self, *_: object) -> None:
        if self._stream:
            self._stream.close()
