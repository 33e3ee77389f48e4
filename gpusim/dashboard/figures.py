"""The timeline figure: a pure function of two sides and a view, as plain dictionaries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gpusim.dashboard.align import alignment_shift
from gpusim.dashboard.bars import bar_traces
from gpusim.dashboard.blanks import blank_shade, end_traces, unrecorded_traces
from gpusim.dashboard.case import Path
from gpusim.dashboard.difference import (
    difference_heat,
    difference_traces,
    drift_scale,
    drift_traces,
    hold_inside,
    scale_of,
)
from gpusim.dashboard.geometry import AXIS_PX, HEADER_PX, Panel, Stack, stack_panels
from gpusim.dashboard.heat import Grid, heat_trace
from gpusim.dashboard.lane_rows import lane_rows
from gpusim.dashboard.lanes import LanePattern, Row
from gpusim.dashboard.marks import critical_trace, end_marks, selection_marks
from gpusim.dashboard.match import Match
from gpusim.dashboard.palette import colour, ink, label, meaning, order
from gpusim.dashboard.recorded import ends_of
from gpusim.dashboard.text import delta_text
from gpusim.dashboard.ticks import time_ticks
from gpusim.dashboard.track import Track
from gpusim.dashboard.view import View

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


def timeline_figure(
    predicted: Track,
    measured: Track | None = None,
    view: View | None = None,
    match: Match | None = None,
    critical: Path | None = None,
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
    window = view.window_us or home
    px_per_us = view.width / max(window[1] - window[0], 1e-9)
    margin = MARGIN * (window[1] - window[0])
    low, high = max(window[0] - margin, home[0]), min(window[1] + margin, home[1])
    low, high = (low, high) if low < high else window

    shown = _visible(predicted, measured, stack, mode, view, *window)
    binned = shown > BAR_LIMIT
    if mode == "difference" and match is not None:
        traces, legend = _difference(predicted, measured, stack, match, view, (low, high), shift, binned, px_per_us)
    else:
        traces = _traces(predicted, measured, stack, mode, view, match, (low, high), shift, binned, px_per_us)
        legend = _legend(predicted, measured, view)
        # Traces of no interval have nothing to switch off.
        blank = dict.fromkeys(trace["name"] for trace in traces if trace["type"] == "bar" and "customdata" not in trace)
        legend += [LegendEntry(-1, name, blank_shade(name, view.theme), name) for name in blank]
    figure = {"data": traces, "layout": _layout(stack, window, view)}
    drift_labels = _scale_drift(figure, stack.panels[-1]) if stack.panels[-1].side == "drift" else []
    _add_marks(figure, predicted, measured, stack, view, critical, (low, high), mode, px_per_us)
    messages = [m for m in (message,) if m]
    if pattern and not any(panel.lanes() for panel in stack.panels if panel.side != "drift"):
        messages.append("No lane matches the search.")
    return Drawing(figure, stack, legend, home, window, shown, binned, messages, drift_labels, pattern.error)


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


def _sides(predicted: Track, measured: Track | None, stack: Stack, mode: str) -> list[tuple[Track, Panel]]:
    tracks = [track for track in (predicted, measured) if track is not None]
    if mode == "stacked":
        return list(zip(tracks, stack.panels, strict=True))
    return [(track, stack.panels[0]) for track in tracks]


def _kept(track: Track, panel: Panel, view: View, low: float, high: float) -> np.ndarray:
    index = track.crop(panel.lanes(), low, high)
    if view.hidden and len(index):
        index = index[~np.isin(track.category[index], list(view.hidden))]
    return index


def _visible(
    predicted: Track, measured: Track | None, stack: Stack, mode: str, view: View, low: float, high: float
) -> int:
    sides = _sides(predicted, measured, stack, mode)[: 1 if mode == "difference" else 2]
    count = 0
    for track, panel in sides:
        index = _kept(track, panel, view, low, high)
        count += len(index)
    return count


def _traces(
    predicted: Track, measured: Track | None, stack: Stack, mode: str, view: View, match: Match | None,
    drawn: tuple[float, float], shift: float, binned: bool, px_per_us: float,
) -> list[dict[str, Any]]:  # fmt: skip
    traces: list[dict[str, Any]] = []
    for track, panel in _sides(predicted, measured, stack, mode):
        index = _kept(track, panel, view, *drawn)
        beneath = mode == "overlay" and track.side == "measured"
        part = (0.0, 1.0) if mode == "stacked" else (0.62, 1.0) if beneath else (0.0, 0.58)
        blanks = {"px_per_us": px_per_us, "theme": view.theme}
        traces += end_traces(track, panel, **blanks) if mode == "stacked" else []
        traces += unrecorded_traces(track, panel, **blanks, lane_part=part)
        heat = partial(heat_trace, track, panel=panel, low_us=drawn[0], high_us=drawn[1], theme=view.theme,
                       width_px=int(px_per_us * (drawn[1] - drawn[0])), lane_part=part, faint=beneath)  # fmt: skip
        if binned:
            traces.append(heat(index))
        else:
            if crowd := panel.mixed():
                mixed = np.isin(track.timeline.lane[index], [track.lane_ids[n] for n in crowd if n in track.lane_ids])
                traces.append(heat(index[mixed]))
                index = index[~mixed]
            traces += bar_traces(
                track, index, panel, px_per_us=px_per_us, theme=view.theme, match=match, shift_us=shift,
                lane_part=part, outlined=beneath,
            )  # fmt: skip
    return traces


def _difference(
    predicted: Track, measured: Track, stack: Stack, match: Match, view: View, drawn: tuple[float, float],
    shift: float, binned: bool, px_per_us: float,
) -> tuple[list[dict[str, Any]], list[LegendEntry]]:  # fmt: skip
    scale = scale_of(match, view.theme)
    panel = stack.panels[0]
    index = _kept(predicted, panel, view, *drawn)
    if binned:
        grid = Grid(panel, *drawn, px_per_us * (drawn[1] - drawn[0]))
        theirs = _kept(measured, panel, view, *drawn)
        traces = [difference_heat(predicted, index, measured, theirs, grid, match, scale, view.theme)]
    else:
        traces = difference_traces(predicted, index, panel, match, scale, shift_us=shift)
    traces += drift_traces(predicted, index, match, stack.panels[1].axis, shift_us=shift, theme=view.theme)
    legend = [
        LegendEntry(-1, name, shade, f"duration, {match.difference}", of="duration")
        for name, shade in zip(scale.names(), scale.shades, strict=True)
    ]
    kinds = np.unique(predicted.category[match.paired(index)]).tolist()
    legend += [LegendEntry(-1, label(c), colour(c, view.theme), meaning(c), of="points") for c in order(kinds)]
    return traces, legend


def _legend(predicted: Track, measured: Track | None, view: View) -> list[LegendEntry]:
    codes = set(predicted.present) | set(measured.present if measured is not None else [])
    return [
        LegendEntry(c, label(c), colour(c, view.theme), meaning(c), c not in view.hidden) for c in order(list(codes))
    ]


def _layout(stack: Stack, window: tuple[float, float], view: View) -> dict[str, Any]:
    tones = ink(view.theme)
    layout: dict[str, Any] = {
        "width": view.width,
        "height": stack.height_px,
        "margin": {"l": 0, "r": 20, "t": HEADER_PX, "b": AXIS_PX, "pad": 0},
        "autosize": False,
        "barmode": "overlay",
        "bargap": 0,
        "dragmode": "zoom",
        "hovermode": "closest",
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 11, "color": tones.dim},
        "hoverlabel": {
            "align": "left", "bgcolor": tones.panel, "bordercolor": tones.dim,
            "font": {"family": FONT, "size": 12, "color": tones.text},
        },
        "uirevision": "keep",
        "xaxis": {
            "type": "linear", "range": list(window), "anchor": stack.panels[-1].axis, "side": "bottom",
            "gridcolor": tones.grid, "zeroline": False, "showline": True, "linecolor": tones.grid, "ticks": "outside",
            "tickcolor": tones.dim, "ticklen": 4, "tickfont": {"size": 11}, **time_ticks(*window, view.width),
        },
    }  # fmt: skip
    for panel in stack.panels:
        name = "yaxis" + panel.axis[1:]
        layout[name] = {
            "type": "linear", "domain": stack.domain(panel), "range": [panel.height_px, 0], "anchor": "x",
            "fixedrange": True, "showgrid": False, "zeroline": False, "showticklabels": False, "showline": False,
        }  # fmt: skip
        if panel.side == "drift":
            layout[name] |= {"showgrid": True, "gridcolor": tones.grid, "zeroline": True, "zerolinecolor": tones.dim}
    return layout


def _scale_drift(figure: dict[str, Any], panel: Panel) -> list[tuple[float, str]]:
    """Give the panel of start differences its scale; labels go beside it, where no point can cover them."""
    (low, high), values = drift_scale([trace for trace in figure["data"] if trace["yaxis"] == panel.axis])
    figure["data"] = [
        hold_inside(trace, low, high) if trace["yaxis"] == panel.axis else trace for trace in figure["data"]
    ]
    figure["layout"]["yaxis" + panel.axis[1:]] |= {"range": [low, high], "tickmode": "array", "tickvals": values}
    return [(panel.height_px * (high - value) / (high - low), delta_text(value)) for value in values]


def _add_marks(
    figure: dict[str, Any], predicted: Track, measured: Track | None, stack: Stack, view: View,
    critical: Path | None, drawn: tuple[float, float], mode: str, px_per_us: float,
) -> None:  # fmt: skip
    shapes, notes = [], []
    sides = _sides(predicted, measured, stack, mode)
    for track, panel in sides[: 2 if mode == "stacked" else 1]:
        other = measured if track is predicted else predicted
        more_shapes, more_notes = end_marks(
            panel, track, other, view.theme, px_per_us=px_per_us, both=mode != "stacked"
        )
        shapes += more_shapes
        notes += more_notes
    for track, panel in sides:
        if view.selected and view.selected.side == track.side and 0 <= view.selected.index < len(track.timeline):
            more_shapes, more_notes = selection_marks(track, view.selected.index, panel, view.theme)
            shapes += more_shapes
            notes += more_notes
    if view.critical and critical is not None and mode != "difference":
        figure["data"].append(critical_trace(predicted, critical, sides[0][1], *drawn, view.theme))
    figure["layout"]["shapes"] = shapes
    figure["layout"]["annotations"] = notes


FONT = 'Inter, "Segoe UI", system-ui, -apple-system, "Liberation Sans", Arial, sans-serif'
