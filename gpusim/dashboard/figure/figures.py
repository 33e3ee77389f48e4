"""The timeline figure: a pure function of two sides and a view, as plain dictionaries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gpusim.dashboard.figure.align import alignment_shift
from gpusim.dashboard.figure.bars import bar_traces
from gpusim.dashboard.figure.blanks import blank_shade, end_traces, unrecorded_traces
from gpusim.dashboard.figure.difference import difference_heat, difference_traces, drift_traces, scale_of
from gpusim.dashboard.figure.geometry import AXIS_PX, HEADER_PX, Panel, Stack, stack_panels
from gpusim.dashboard.figure.heat import Grid, heat_trace
from gpusim.dashboard.figure.lane_list import LanePattern, Row
from gpusim.dashboard.figure.lane_rows import lane_rows
from gpusim.dashboard.figure.layout import figure_layout, scale_drift
from gpusim.dashboard.figure.marks import CriticalLine, critical_trace, end_marks, selection_marks
from gpusim.dashboard.figure.match import Match
from gpusim.dashboard.figure.palette import colour, label, meaning, order
from gpusim.dashboard.figure.recorded import ends_of
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import View

__all__ = ["BAR_LIMIT", "Drawing", "LegendEntry", "timeline_figure"]

BAR_LIMIT = 2000
"""Above this many intervals in the window the figure shows bins instead of bars."""
MARGIN = 0.2
"""Part of the window drawn beyond each of its sides, so that a pan has something to show."""
DRIFT_ROWS = 7


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One colour of the legend; ``category`` is -1 for one that cannot be switched off."""

    category: int
    label: str
    colour: str
    meaning: str
    shown: bool = True
    of: str = ""
    """What the colour belongs to, where the figure has more than one thing."""


@dataclass
class Drawing:
    """A figure with all that the page shows around it."""

    figure: dict[str, Any]
    stack: Stack
    legend: list[LegendEntry]
    home_us: tuple[float, float]
    window_us: tuple[float, float]
    intervals: int
    binned: bool
    messages: list[str] = field(default_factory=list)
    drift_labels: list[tuple[float, str]] = field(default_factory=list)
    """Pixels from the top of the panel of start differences, and what to write there."""
    pattern_error: str = ""


@dataclass(frozen=True)
class _Scene:
    """What the parts of a figure share: which sides it draws, on which panels, and which part of the time axis.

    ``measured`` is moved already. ``window_us`` is in sight, ``drawn_us`` reaches a little beyond it.
    """

    predicted: Track
    measured: Track | None
    match: Match | None
    mode: str
    view: View
    stack: Stack
    window_us: tuple[float, float]
    drawn_us: tuple[float, float]

    @property
    def px_per_us(self) -> float:
        """Pixels of a microsecond."""
        return self.view.width / max(self.window_us[1] - self.window_us[0], 1e-9)

    @property
    def width_px(self) -> float:
        """Width of all that is drawn."""
        return self.px_per_us * (self.drawn_us[1] - self.drawn_us[0])

    @property
    def shift_us(self) -> float:
        """How far the measured side was moved."""
        return self.measured.shift_us if self.measured is not None else 0.0

    def sides(self) -> list[tuple[Track, Panel]]:
        """Each side with the panel that it is drawn on."""
        tracks = [track for track in (self.predicted, self.measured) if track is not None]
        panels = self.stack.panels if self.mode == "stacked" else [self.stack.panels[0]] * len(tracks)
        return list(zip(tracks, panels, strict=True))

    def kept(self, track: Track, panel: Panel, span_us: tuple[float, float]) -> np.ndarray:
        """Indices of the intervals on ``panel`` that overlap ``span_us`` and are of a category that is not hidden."""
        index = track.crop(panel.lanes(), *span_us)
        if self.view.hidden and len(index):
            index = index[~np.isin(track.category[index], list(self.view.hidden))]
        return index

    def is_beneath(self, track: Track) -> bool:
        """Whether a side lies under the other one in the same lanes."""
        return self.mode == "overlay" and track.side == "measured"

    def part(self, track: Track) -> tuple[float, float]:
        """The part of a lane's band that the bars of a side fill, from the top."""
        if self.mode == "stacked":
            return (0.0, 1.0)
        return (0.62, 1.0) if self.is_beneath(track) else (0.0, 0.58)

    def visible(self) -> int:
        """How many intervals are in sight; differences are drawn of predicted ones alone."""
        sides = self.sides()[: 1 if self.mode == "difference" else 2]
        return sum(len(self.kept(track, panel, self.window_us)) for track, panel in sides)


def timeline_figure(
    predicted: Track,
    measured: Track | None = None,
    view: View | None = None,
    match: Match | None = None,
    critical: CriticalLine | None = None,
) -> Drawing:
    """Predicted above measured, or what else it stands against, over it, or their difference, for one view.

    ``match`` pairs events for hover and difference; ``critical`` is the predicted
    critical path.
    """
    view = view or View()
    pattern = LanePattern(view.pattern)
    shift, message = alignment_shift(predicted, measured, view)
    if measured is not None:
        measured = measured.shifted(shift)
    mode = view.mode if measured is not None else "stacked"
    stack = _stack(predicted, measured, view, mode, pattern)
    home = _home(predicted, measured)
    window = _within(view.window_us, home)
    scene = _Scene(predicted, measured, match, mode, view, stack, window, _drawn(window, home))

    shown = scene.visible()
    binned = shown > BAR_LIMIT
    if mode == "difference" and match is not None:
        traces, legend = _difference(scene, binned)
    else:
        traces = _traces(scene, binned)
        legend = _legend(scene, traces)
    figure = {"data": traces, "layout": figure_layout(stack, window, view)}
    drift_labels = scale_drift(figure, stack.panels[-1]) if stack.panels[-1].side == "drift" else []
    _add_marks(figure, scene, critical)
    messages = [m for m in (message,) if m]
    if pattern and not any(panel.lanes() for panel in stack.panels if panel.side != "drift"):
        messages.append("No lane matches the search.")
    return Drawing(figure, stack, legend, home, window, shown, binned, messages, drift_labels, pattern.error)


def _within(asked: tuple[float, float] | None, home: tuple[float, float]) -> tuple[float, float]:
    """What of the window that is asked for lies where anything is drawn; all of it where that is nothing."""
    low, high = asked or home
    low, high = max(low, home[0]), min(high, home[1])
    return (low, high) if low < high else home


def _stack(predicted: Track, measured: Track | None, view: View, mode: str, pattern: LanePattern) -> Stack:
    sides = [track for track in (predicted, measured) if track is not None]
    panels = 2 if mode == "stacked" and measured is not None else 1
    budget = int(min(max((view.room / panels - HEADER_PX - AXIS_PX / 2) / 16.5, 6), 18))
    rows = partial(lane_rows, known=sides, view=view, pattern=pattern, budget=budget)
    if mode == "stacked":
        parts = [(track.side, track.title.capitalize(), rows([track])) for track in sides]
        return stack_panels(parts, view.height)
    if mode == "overlay":
        lanes = rows([predicted])
        title = f"{predicted.title.capitalize()}, with {measured.title} beneath"
        return stack_panels([("both", title, lanes)], view.height, scale=1.6)
    drift = [Row(f"drift{k}", "", 0, ()) for k in range(DRIFT_ROWS)]
    lanes = rows([predicted], also_in=measured)
    difference = f"{measured.title} − {predicted.title}"
    parts = [("both", f"Duration, {difference}", lanes), ("drift", f"Start, {difference}", drift)]
    return stack_panels(parts, view.height)


def _home(predicted: Track, measured: Track | None) -> tuple[float, float]:
    tracks = [track for track in (predicted, measured) if track is not None]
    ends = [end + track.shift_us for track in tracks for end in (track.total_us, ends_of(track).run)]
    starts, lasts = zip(*(track.span_us for track in tracks), strict=True)
    low, high = min(0.0, *starts), max(*lasts, *ends, 1e-6)
    return low - 0.005 * (high - low), high + 0.015 * (high - low)


def _drawn(window: tuple[float, float], home: tuple[float, float]) -> tuple[float, float]:
    """The window with a margin that a pan can show, but nothing beyond all there is."""
    margin = MARGIN * (window[1] - window[0])
    low, high = max(window[0] - margin, home[0]), min(window[1] + margin, home[1])
    return (low, high) if low < high else window


def _traces(scene: _Scene, binned: bool) -> list[dict[str, Any]]:
    """Everything on the panels of stacked or overlaid sides."""
    traces: list[dict[str, Any]] = []
    scale = {"px_per_us": scene.px_per_us, "theme": scene.view.theme}
    for track, panel in scene.sides():
        traces += end_traces(track, panel, **scale) if scene.mode == "stacked" else []
        traces += unrecorded_traces(track, panel, **scale, lane_part=scene.part(track))
        traces += _interval_traces(scene, track, panel, binned)
    return traces


def _interval_traces(scene: _Scene, track: Track, panel: Panel, binned: bool) -> list[dict[str, Any]]:
    """The intervals of a side as bars; as bins where there are too many, or on rows that mix lanes."""
    index = scene.kept(track, panel, scene.drawn_us)
    part, beneath = scene.part(track), scene.is_beneath(track)
    heat = partial(heat_trace, track, panel=panel, low_us=scene.drawn_us[0], high_us=scene.drawn_us[1],
                   theme=scene.view.theme, width_px=int(scene.width_px), lane_part=part, faint=beneath)  # fmt: skip
    if binned:
        return [heat(index)]
    traces = []
    if crowd := panel.mixed():
        mixed = np.isin(track.timeline.lane[index], [track.lane_ids[n] for n in crowd if n in track.lane_ids])
        traces.append(heat(index[mixed]))
        index = index[~mixed]
    return traces + bar_traces(
        track, index, panel, px_per_us=scene.px_per_us, theme=scene.view.theme, match=scene.match,
        shift_us=scene.shift_us, lane_part=part, outlined=beneath,
    )  # fmt: skip


def _difference(scene: _Scene, binned: bool) -> tuple[list[dict[str, Any]], list[LegendEntry]]:
    """Duration differences over start differences, with the classes of the former and the kinds of the latter."""
    predicted, measured, match, theme = scene.predicted, scene.measured, scene.match, scene.view.theme
    panel, drift = scene.stack.panels
    scale = scale_of(match, theme)
    index = scene.kept(predicted, panel, scene.drawn_us)
    if binned:
        grid = Grid(panel, *scene.drawn_us, scene.width_px)
        theirs = scene.kept(measured, panel, scene.drawn_us)
        traces = [difference_heat(predicted, index, measured, theirs, grid, match, scale, theme)]
    else:
        traces = difference_traces(predicted, index, panel, match, scale, shift_us=scene.shift_us)
    traces += drift_traces(predicted, index, match, drift.axis, shift_us=scene.shift_us, theme=theme)
    legend = [
        LegendEntry(-1, name, shade, f"duration, {match.difference}", of="duration")
        for name, shade in zip(scale.names(), scale.shades, strict=True)
    ]
    kinds = order(np.unique(predicted.category[match.paired(index)]).tolist())
    return traces, legend + [LegendEntry(-1, label(c), colour(c, theme), meaning(c), of="points") for c in kinds]


def _legend(scene: _Scene, traces: list[dict[str, Any]]) -> list[LegendEntry]:
    """Categories that occur, shown or hidden, then what else ``traces`` draw."""
    theme, hidden = scene.view.theme, scene.view.hidden
    codes = {code for track, _ in scene.sides() for code in track.present}
    legend = [LegendEntry(c, label(c), colour(c, theme), meaning(c), c not in hidden) for c in order(list(codes))]
    # Traces of no interval have nothing to switch off.
    blank = dict.fromkeys(trace["name"] for trace in traces if trace["type"] == "bar" and "customdata" not in trace)
    return legend + [LegendEntry(-1, name, blank_shade(name, theme), name) for name in blank]


def _add_marks(figure: dict[str, Any], scene: _Scene, critical: CriticalLine | None) -> None:
    """Put the ends of the runs, the clicked interval and the critical path over what ``figure`` has."""
    theme, selected, stacked = scene.view.theme, scene.view.selected, scene.mode == "stacked"
    sides = scene.sides()
    marks = []
    for track, panel in sides if stacked else sides[:1]:
        other = scene.measured if track is scene.predicted else scene.predicted
        scale = {"px_per_us": scene.px_per_us, "window_us": scene.window_us}
        marks.append(end_marks(panel, track, other, theme, **scale, both=not stacked))
    for track, panel in sides:
        if selected and selected.side == track.side and 0 <= selected.index < len(track.timeline):
            marks.append(selection_marks(track, selected.index, panel, theme))
    if scene.view.critical and critical is not None and scene.mode != "difference":
        figure["data"].append(critical_trace(scene.predicted, critical, sides[0][1], *scene.drawn_us, theme))
    figure["layout"]["shapes"] = [shape for shapes, _ in marks for shape in shapes]
    figure["layout"]["annotations"] = [note for _, notes in marks for note in notes]
