"""Difference mode: every matched event by how much longer it took, and how late it started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpusim.dashboard.figure.bars import bar, told
from gpusim.dashboard.figure.geometry import Panel
from gpusim.dashboard.figure.heat import Grid, Shares, shares_trace
from gpusim.dashboard.figure.match import Match
from gpusim.dashboard.figure.palette import colour, ink, label, order
from gpusim.dashboard.figure.text import delta_text, time_text
from gpusim.dashboard.figure.ticks import round_numbers
from gpusim.dashboard.figure.track import Track

__all__ = ["Scale", "difference_heat", "difference_traces", "drift_scale", "drift_traces", "hold_inside", "scale_of"]

BORDERS = (0.05, 0.2, 0.5)
"""Where classes of a difference begin, in parts of what 95 of 100 differences stay below."""
MOST_POINTS = 2500
MOST_LABELS = 5
RARE, FAR = 0.02, 1.0
"""Points of the lowest and highest part so rare may lie outside, so many times the spread of the rest away from it."""
ARROWS = {-1: "triangle-down", 0: "circle", 1: "triangle-up"}


@dataclass(frozen=True)
class Scale:
    """Classes of a difference: ``edges_us`` are the inner borders, ``shades`` one colour each."""

    edges_us: np.ndarray
    shades: tuple[str, ...]

    def classes(self, delta_us: np.ndarray) -> np.ndarray:
        """Class of each difference; the middle one means "equal"."""
        return np.searchsorted(self.edges_us, delta_us)

    def names(self) -> list[str]:
        """What each class means."""
        below = [f"< {delta_text(edge)}" for edge in self.edges_us if edge < 0]
        above = [f"> {delta_text(edge)}" for edge in self.edges_us if edge > 0]
        return [*below, f"within ±{time_text(min(abs(self.edges_us)), 2)}", *above]


def _nice(value: float) -> float:
    """The next larger 1, 2 or 5 times a power of ten; at least a nanosecond."""
    value = max(value, 1e-3)
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= value * 0.999))


def scale_of(match: Match, theme: str) -> Scale:
    """A scale whose last class begins at half of the 95th percentile of the duration differences, rounded up."""
    spread = np.abs(match.duration_delta_us)
    spread = spread[np.isfinite(spread)]
    top = _nice(float(np.quantile(spread, 0.95)) if len(spread) else 0.0)
    above = np.array(BORDERS) * top
    edges = np.concatenate([-above[::-1], above])
    tones = ink(theme)
    return Scale(edges, (*reversed(tones.earlier), tones.neutral, *tones.later))


def difference_traces(
    track: Track, index: np.ndarray, panel: Panel, match: Match, scale: Scale, *, shift_us: float
) -> list[dict[str, Any]]:
    """Predicted intervals ``index`` that have a partner, coloured by the duration difference."""
    index = match.paired(index)
    group = scale.classes(match.duration_delta_us[index])
    lane = track.timeline.lane[index]
    centre, thickness = panel.places(track.timeline.lanes)
    length = track.end_us - track.start_us
    traces = []
    for k in np.unique(group).tolist():
        chosen = group == k
        traces.append(
            bar(
                panel, scale.names()[k], track.start_us[index[chosen]], length[index[chosen]],
                centre[lane[chosen]], thickness[lane[chosen]],
                marker={"color": scale.shades[k], "line": {"width": 0}},
                **told(track, index[chosen], match, shift_us),
            )
        )  # fmt: skip
    return traces


def difference_heat(
    predicted: Track, index: np.ndarray, measured: Track, measured_index: np.ndarray,
    grid: Grid, match: Match, scale: Scale, theme: str,
) -> dict[str, Any]:  # fmt: skip
    """Duration differences of too many intervals for bars: how much of each bin's time belongs to which class.

    Hovering tells that, and beside it what both sides spend the bin's time on: events without a partner, and
    those that one side has in another bin, differ there alone.
    """
    paired = match.paired(index)
    count, blurred = grid.bins(predicted, paired)
    classes = range(len(scale.shades))
    late = grid.shares(predicted, paired, scale.classes(match.duration_delta_us[paired]), classes, count)
    kinds = order(np.union1d(predicted.category[index], measured.category[measured_index]).tolist())
    sides = [grid.shares(track, chosen, track.category[chosen], kinds, count)
             for track, chosen in ((predicted, index), (measured, measured_index))]  # fmt: skip
    spent = " → ".join(match.titles)
    told = [
        Shares(f"lasts longer or shorter, {match.difference}", scale.names(), scale.shades, late),
        Shares(f"time spent, {spent}", [label(c) for c in kinds], [colour(c, theme) for c in kinds], *sides),
    ]
    return shares_trace(grid, late, blurred, scale.shades, predicted.side, told)


def drift_traces(
    track: Track, index: np.ndarray, match: Match, axis: str, *, shift_us: float, theme: str
) -> list[dict[str, Any]]:
    """Start difference over time, one colour per category; thinned to extremes when dense."""
    index = match.beginning(index)
    category = track.category[index]
    traces = []
    codes = np.unique(category).tolist()
    for code in codes:
        chosen = np.flatnonzero(category == code)
        x = track.start_us[index[chosen]]
        y = match.start_delta_us[index[chosen]] + shift_us
        keep = _extremes(x, y, MOST_POINTS // max(len(codes), 1))
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label(code),
                "x": x[keep].tolist(),
                "y": y[keep].tolist(),
                **told(track, index[chosen][keep], match, shift_us),
                "marker": {"size": 5, "color": colour(code, theme), "line": {"width": 0.5, "color": ink(theme).dim}},
                "xaxis": "x",
                "yaxis": axis,
                "showlegend": False,
            }
        )
    return traces


def drift_scale(traces: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Range of the axis of start differences, zero in it, and round values to label.

    A few points far outside the others are left out of it.
    """
    values = np.concatenate([[0.0], *(trace["y"] for trace in traces)])
    low, high = float(values.min()), float(values.max())
    inner = np.quantile(values, [RARE, 1 - RARE])
    room = FAR * float(inner[1] - inner[0])
    low, high = max(low, min(float(inner[0]) - room, 0.0)), min(high, max(float(inner[1]) + room, 0.0))
    room = max(0.08 * (high - low), 1e-3)
    return [low - room, high + room], round_numbers(low - room, high + room, MOST_LABELS)


def hold_inside(trace: dict[str, Any], low: float, high: float) -> dict[str, Any]:
    """The points of a trace, those outside of the range as arrows at its edge."""
    y = np.asarray(trace["y"], dtype=float)
    edge = 0.02 * (high - low)
    beyond = (y > high).astype(int) - (y < low)
    symbols = [ARROWS[int(way)] for way in beyond]
    held = {"y": np.clip(y, low + edge, high - edge).tolist(), "marker": trace["marker"] | {"symbol": symbols}}
    return trace | held if beyond.any() else trace


def _extremes(x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    """Indices of all points, or of the lowest and highest one in each of ``most / 2`` time slots."""
    if len(x) <= most:
        return np.arange(len(x))
    low, high = float(x.min()), float(x.max())
    slots = max(most // 2, 1)
    slot = np.minimum(((x - low) / max(high - low, 1e-12) * slots).astype(np.int64), slots - 1)
    order = np.lexsort((y, slot))
    edge = np.flatnonzero(np.diff(slot[order])) + 1
    firsts = np.concatenate([[0], edge])
    lasts = np.concatenate([edge - 1, [len(order) - 1]])
    return np.unique(order[np.concatenate([firsts, lasts])])
