"""What the model says about everything that was recorded: predicted once for all tests of this folder."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpusim.files import write_atomically
from gpusim.scenario import predict_params, techniques
from gpusim.scenario.sweeps.parallel import run_parallel
from gpusim.validation.recording import TOTALS, TotalRow, Totals

DEVICE = "h200_sxm"
WORKERS = 2


@dataclass(frozen=True)
class Point:
    """A recorded run time and its prediction, in seconds."""

    row: TotalRow
    predicted_s: float

    @property
    def params(self) -> Mapping[str, Any]:
        """Of the technique, by name."""
        return self.row.params

    @property
    def measured_s(self) -> float:
        """Median of the un-instrumented runs."""
        return self.row.total_s

    @property
    def error(self) -> float:
        """Signed, relative to measured."""
        return self.predicted_s / self.measured_s - 1.0

    def __str__(self) -> str:
        words = " ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.error:+7.1%}  {self.measured_s * 1e6:9.1f} us measured  {words}"


def recorded(name: str, device: str = DEVICE) -> list[TotalRow]:
    """The recorded run times of a technique on a device; none if there are none."""
    path = techniques()[name].folder / "recorded" / device / TOTALS
    return Totals.load(path).rows if path.exists() else []


@cache
def points(name: str, device: str = DEVICE) -> tuple[Point, ...]:
    """All recorded rows of a technique on a device, in their order, and what is predicted."""
    rows = recorded(name, device)
    predicted = _once(f"{name}-{device}", lambda: _predict_all(name, device, rows))
    return tuple(Point(row, total_s) for row, total_s in zip(rows, predicted, strict=True))


def _once(name: str, make: Callable[[], list[float]]) -> list[float]:
    """What ``make`` gives; of the workers of one run of pytest-xdist only the first to ask calls it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return make()
    folder = Path(tempfile.gettempdir()) / f"gpusim-predictions-{run}"
    folder.mkdir(exist_ok=True)
    made, begun = folder / f"{name}.json", folder / f"{name}.begun"
    while not made.exists():
        try:
            begun.touch(exist_ok=False)
        except FileExistsError:
            time.sleep(0.1)
            continue
        try:
            if not made.exists():
                write_atomically(made, json.dumps(make()))
        finally:
            # Whoever waits tries again if this has failed.
            begun.unlink()
    return json.loads(made.read_text(encoding="utf-8"))


def _predict_all(name: str, device: str, rows: list[TotalRow]) -> list[float]:
    jobs = [(number, name, device, dict(row.params)) for number, row in enumerate(rows)]
    # Results come in any order.
    predicted = dict(run_parallel(_predict, jobs, workers=WORKERS))
    return [predicted[number] for number in range(len(rows))]


def _predict(job: tuple[int, str, str, dict[str, Any]]) -> tuple[int, float]:
    number, name, device, params = job
    found = techniques()[name]
    return number, predict_params(found, found.make_params(params), device, trace=False).total_s


def worst_first(found: tuple[Point, ...]) -> list[Point]:
    """Those that are off by most come first."""
    return sorted(found, key=lambda point: -abs(point.error))


def assert_within(found: tuple[Point, ...], band: tuple[float, float]) -> None:
    """Mean and worst absolute error of ``found`` are within ``band``; on failure the five worst rows are shown."""
    mean, most = band
    worst = worst_first(found)
    shown = "\n".join(map(str, worst[:5]))
    assert statistics.fmean(abs(point.error) for point in found) <= mean, shown
    assert abs(worst[0].error) <= most, shown
