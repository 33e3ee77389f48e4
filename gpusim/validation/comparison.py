"""A predicted and a measured timeline, metric by metric, and whether the claim holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gpusim.errors import RecordingError
from gpusim.timeline import COLUMNS, KINDS, Timeline
from gpusim.timeline.lane_names import last_part
from gpusim.timeline.metrics import summary
from gpusim.validation.band import DEFAULT_BAND, Band

__all__ = ["Comparison", "MetricError", "Verdict", "compare_timelines"]

Verdict = Literal["within", "outside", "known gap"]

_ABSOLUTE = ("hidden_fraction",)


@dataclass(frozen=True, slots=True)
class MetricError:
    """One metric on both sides. ``error`` is signed: relative to measured, a difference for fractions."""

    name: str
    predicted: float
    measured: float
    error: float


@dataclass(frozen=True)
class Comparison:
    """Errors of one case and its verdict.

    ``metrics`` holds totals and rates, ``by_kind`` the mean duration of an interval per
    kind, ``by_stage`` that of a copy per ring stage. ``deviation_s`` is the median
    distance between the ends of the same event on both sides, counted from the first
    interval (NaN without common events). Total and period are those of a kernel without time stamps on both sides.
    Everything else is measured in one that takes them, and compared with the prediction of such a kernel if there is
    one; then ``unstamped_hidden`` is the hidden fraction without. ``watched`` names the rings whose copies the hidden
    fractions compared are of, where the recording shows fewer rings than the prediction. ``unlike``: that the two did
    other work, and in what, if that is known: then no error says anything of the prediction.
    """

    predicted: Timeline
    measured: Timeline
    metrics: tuple[MetricError, ...]
    by_kind: tuple[MetricError, ...]
    by_stage: tuple[MetricError, ...]
    deviation_s: float
    band: Band
    gap: str = ""
    unstamped_hidden: float | None = None
    watched: tuple[str, ...] = ()
    unlike: str = ""

    @classmethod
    def of_numbers(
        cls, predicted: Timeline, measured: Timeline, hidden: tuple[float, float] | None = None, gap: str = ""
    ) -> Comparison:
        """Of two timelines without intervals: by their totals and, if known, the ``hidden`` fraction of each."""
        metrics = [_error("total_s", predicted.total_s, measured.total_s)]
        if hidden is not None:
            metrics.append(_error("hidden_fraction", *hidden))
        known = tuple(entry for entry in metrics if entry is not None)
        return cls(predicted, measured, known, (), (), math.nan, DEFAULT_BAND, gap)

    def metric(self, name: str) -> MetricError | None:
        """The metric called ``name``, or None where one side does not have it."""
        return next((entry for entry in self.metrics if entry.name == name), None)

    @property
    def total_error(self) -> float:
        """Signed relative error of the total time; NaN, which is outside of any band, where none was measured."""
        total = self.metric("total_s")
        return math.nan if total is None else total.error

    @property
    def hidden_error(self) -> float | None:
        """Predicted minus measured hidden fraction, or None where one is unknown."""
        hidden = self.metric("hidden_fraction")
        return None if hidden is None else hidden.error

    @property
    def verdict(self) -> Verdict:
        """Whether the total is within the worst error claimed for one case."""
        if self.gap:
            return "known gap"
        return "within" if abs(self.total_error) <= self.band.worst else "outside"

    @property
    def hidden_verdict(self) -> Verdict | None:
        """Whether the hidden fraction is within the difference claimed for one case; None where it is unknown."""
        if self.hidden_error is None:
            return None
        if self.gap:
            return "known gap"
        return "within" if abs(self.hidden_error) <= self.band.hidden else "outside"

    @property
    def within(self) -> bool:
        """Nothing that is claimed is outside its band."""
        return "outside" not in (self.verdict, self.hidden_verdict)

    @property
    def told(self) -> str:
        """Verdict in words: of the work if it is another one, of the total, of the hidden fraction, and why."""
        parts = [self.unlike] if self.unlike else []
        parts += [f"total {self.verdict} ({self.total_error:+.1%}, at most {self.band.worst:.1%} either way)"]
        if self.hidden_verdict is not None:
            parts.append(
                f"hidden fraction {self.hidden_verdict} ({self.hidden_error:+.3f}, at most {self.band.hidden})"
            )
        return "; ".join(parts) + (f": {self.gap}" if self.gap else "")

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "verdict": self.verdict,
            "within": self.within,
            "hidden_verdict": self.hidden_verdict,
            "gap": self.gap or None,
            "unlike_work": self.unlike or None,
            "metrics": {entry.name: _row(entry) for entry in self.metrics},
            "by_kind": {entry.name: _row(entry) for entry in self.by_kind},
            "by_stage": {entry.name: _row(entry) for entry in self.by_stage},
            "deviation_s": None if self.deviation_s != self.deviation_s else self.deviation_s,
            "hidden_fraction_without_time_stamps": self.unstamped_hidden,
            "hidden_fraction_of_rings": list(self.watched) or None,
            "band": {"worst": self.band.worst, "mean": self.band.mean, "hidden": self.band.hidden},
        }


def compare_timelines(
    predicted: Timeline,
    measured: Timeline,
    *,
    stamped: Timeline | None = None,
    band: Band = DEFAULT_BAND,
    gap: str = "",
) -> Comparison:
    """Compare the two; ``stamped`` is predicted with time stamps. Raises RecordingError if they are of other devices.

    A measured timeline records only some CTAs; the other side is not cut, because every
    metric is a mean, a fraction or a total. But how much is hidden is compared of the rings that were watched.
    """
    devices = predicted.meta.get("device"), measured.meta.get("device")
    if None not in devices and devices[0] != devices[1]:
        raise RecordingError(f"predicted for {devices[0]}, but measured on {devices[1]}")
    left, right, seen, unstamped_hidden = summary(predicted), summary(measured), predicted, None
    if stamped is not None:
        seen, unstamped_hidden = stamped, left["hidden_fraction"]
    watched = _fewer_rings(measured, seen)
    alike = _of_rings(seen, watched) if watched else seen
    if alike is not predicted:
        left["hidden_fraction"] = summary(alike)["hidden_fraction"]
    # Rates follow from the total, so they would only say the same thing again; exposed time
    # is left out because a recording may hold the first tiles of a CTA only.
    names = ("total_s", "period_s", "hidden_fraction")
    metrics = [_error(name, left[name], right[name]) for name in names]
    by_kind = _table(_mean_by(seen, "kind"), _mean_by(measured, "kind"))
    by_stage = _table(_mean_by(seen, "stage"), _mean_by(measured, "stage"))
    return Comparison(
        predicted, measured, tuple(entry for entry in metrics if entry is not None), by_kind, by_stage,
        _deviation(seen, measured), band, gap, unstamped_hidden, watched,
    )  # fmt: skip


def _fewer_rings(measured: Timeline, predicted: Timeline) -> tuple[str, ...]:
    """Rings that both sides have copies into, if ``measured`` shows some of those of ``predicted`` only; else none."""
    ours, theirs = ({last_part(name).name for name in _lanes_of_copies(side)} for side in (predicted, measured))
    return tuple(sorted(ours & theirs)) if ours - theirs else ()


def _of_rings(predicted: Timeline, rings: tuple[str, ...]) -> Timeline:
    """``predicted`` without copies into any ring but these."""
    left_out = [
        predicted.lanes.index(name) for name in _lanes_of_copies(predicted) if last_part(name).name not in rings
    ]
    keep = ~(np.isin(predicted.lane, left_out) & predicted.mask(kinds=("copy",)))
    columns = {name: getattr(predicted, name)[keep] for name in COLUMNS if name != "cause"}
    meta = {name: value for name, value in predicted.meta.items() if name != "hidden_fraction"}
    cause = np.full(int(keep.sum()), -1, predicted.cause.dtype)
    return replace(predicted, meta=meta, cause=cause, **columns)


def _lanes_of_copies(timeline: Timeline) -> list[str]:
    """Names of the lanes that copies lie in."""
    return [timeline.lanes[lane] for lane in np.unique(timeline.lane[timeline.mask(kinds=("copy",))])]


def _error(name: str, predicted: float | None, measured: float | None) -> MetricError | None:
    if predicted is None or measured is None:
        return None
    if name in _ABSOLUTE:
        return MetricError(name, predicted, measured, predicted - measured)
    if measured == 0:
        return MetricError(name, predicted, measured, 0.0) if predicted == 0 else None
    return MetricError(name, predicted, measured, predicted / measured - 1.0)


def _row(entry: MetricError) -> dict[str, float]:
    return {"predicted": entry.predicted, "measured": entry.measured, "error": entry.error}


def _table(left: Mapping[str, float], right: Mapping[str, float]) -> tuple[MetricError, ...]:
    rows = (_error(name, left[name], right[name]) for name in left if name in right)
    return tuple(row for row in rows if row is not None)


def _mean_by(timeline: Timeline, column: Literal["kind", "stage"]) -> dict[str, float]:
    """Mean duration in seconds per kind, or of copies per stage."""
    duration = timeline.end_s - timeline.start_s
    if column == "kind":
        groups = {kind: timeline.kind == number for number, kind in enumerate(KINDS)}
    else:
        copies = timeline.mask(kinds=("copy",)) & (timeline.stage >= 0)
        groups = {f"stage {n}": copies & (timeline.stage == n) for n in np.unique(timeline.stage[copies])}
    return {name: float(duration[keep].mean()) for name, keep in groups.items() if keep.any()}


def _deviation(predicted: Timeline, measured: Timeline) -> float:
    left, right = _ends(predicted), _ends(measured)
    common = [abs(left[event] - right[event]) for event in left.keys() & right.keys()]
    return float(np.median(common)) if common else math.nan


def _ends(timeline: Timeline) -> dict[tuple[str, int, int], float]:
    """When each lane finished each tile of work, from the first interval on."""
    keep = np.flatnonzero(timeline.mask(kinds=("compute", "copy", "load", "store")) & (timeline.tile >= 0))
    origin = timeline.span_s[0]
    return {
        (timeline.lanes[timeline.lane[i]], int(timeline.kind[i]), int(timeline.tile[i])): float(timeline.end_s[i])
        - origin
        for i in keep[np.argsort(timeline.end_s[keep], kind="stable")]
    }
