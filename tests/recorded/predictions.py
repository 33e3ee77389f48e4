"""What the model says about everything that was recorded."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gpusim.scenario import techniques
from gpusim.validation import kept_cases
from gpusim.validation.recording import TOTALS, TotalRow, Totals, params_key

DEVICE = "h200_sxm"


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
    """All recorded rows of a technique on a device, in their order, and what is predicted.

    Predictions are the kept ones: ``tests/validation/test_predicted_file.py`` makes one in ten of them anew.
    """
    return tuple(Point(row, _kept()[name, device, params_key(row.params)]) for row in recorded(name, device))


@cache
def _kept() -> dict[tuple[str, str, str], float]:
    """Seconds predicted, by technique, device and parameters."""
    cases, _ = kept_cases()
    return {(case.technique, case.device, params_key(case.params)): case.comparison.predicted.total_s for case in cases}


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
