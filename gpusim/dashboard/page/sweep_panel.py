"""The panel of a sweep: predicted lines with the measured points on them, above its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from gpusim.dashboard.figure.layout import look
from gpusim.dashboard.figure.palette import LINES, ink
from gpusim.dashboard.figure.ticks import LONG_US
from gpusim.dashboard.figure.track import MICRO
from gpusim.dashboard.page.panel import panel_head
from gpusim.dashboard.page.sweep_tables import error_text, seconds_text
from gpusim.dashboard.page.sweeps import Sweep, SweepRow

__all__ = ["sweep_figure", "sweep_panel"]

HEIGHT = 212
_MARKS, _BEST = ("● predicted", "○ measured"), "★ best"
"""What the marks are, under the axis: a legend would take the width of the lines."""


def sweep_figure(sweep: Sweep, theme: str) -> dict[str, Any]:
    """Totals over the axis with most values, one line for each combination of the others.

    Best ones, each of what does the same work, are stars, measured points open circles in the colour of their line.
    A click tells a point's changes.
    """
    across = max(range(len(sweep.axes)), key=lambda axis: len({row.values[axis] for row in sweep.rows}), default=0)
    lines: dict[tuple[str, ...], list[tuple[str, SweepRow]]] = {}
    for row in sweep.rows:
        rest = row.values[:across] + row.values[across + 1 :]
        lines.setdefault(rest, []).append((row.values[across] if row.values else "", row))
    title, others = (
        (sweep.labels[across], sweep.labels[:across] + sweep.labels[across + 1 :]) if sweep.axes else ("", ())
    )
    if len(lines) == len(sweep.rows) > 1:  # axes that change together
        lines = {(): [(", ".join(row.values), row) for row in sweep.rows]}
        title, others = ", ".join(sweep.labels), ()
    slowest = max((row.predicted_s or 0.0 for row in sweep.rows), default=0.0) * MICRO
    scale, unit = (1e3, "ms") if slowest >= LONG_US else (MICRO, "µs")
    traces = []
    for number, (rest, points) in enumerate(lines.items()):
        shade, name = LINES[number % len(LINES)], ", ".join(rest)
        traces.append(_trace(points, "predicted_s", scale, name, shade, sweep.best))
        if any(row.measured_s for _, row in points):
            traces.append(_trace(points, "measured_s", scale, f"{name} measured".strip(), shade, sweep.measured_best))
    if any(row.measured_s for row in sweep.rows):
        title += "<br>" + "  ".join((*_MARKS, *([_BEST] if sweep.best else [])))
    return {"data": traces, "layout": _layout(title, others, unit, theme)}


def _trace(
    points: Sequence[tuple[str, SweepRow]], side: str, scale: float, name: str, shade: str, best: Sequence[SweepRow]
) -> dict[str, Any]:
    shown = [(place, row) for place, row in points if getattr(row, side) is not None]
    measured = side == "measured_s"
    stars = ["star" if any(row is one for one in best) else "circle-open" if measured else "circle" for _, row in shown]
    return {
        "type": "scatter", "mode": "markers" if measured else "lines+markers", "name": name or "predicted",
        "x": [place for place, _ in shown], "y": [scale * getattr(row, side) for _, row in shown],
        "customdata": ["\n".join(row.changes) for _, row in shown],
        "hovertext": [_hover(row) for _, row in shown], "hovertemplate": "%{hovertext}<extra></extra>",
        "line": {"color": shade, "width": 1.5}, "showlegend": not measured,
        "marker": {"color": shade, "symbol": stars, "line": {"width": 1.6},
                   "size": [13 if star == "star" else 9 if measured else 6 for star in stars]},
    }  # fmt: skip


def _hover(row: SweepRow) -> str:
    lines = [", ".join(row.values), f"predicted {seconds_text(row.predicted_s)}"]
    if row.measured_s:
        lines.append(", ".join(filter(None, (f"measured {seconds_text(row.measured_s)}", error_text(row)))))
    return "<br>".join(lines)


def _layout(title: str, others: Sequence[str], unit: str, theme: str) -> dict[str, Any]:
    tones = ink(theme)
    axis = {"gridcolor": tones.grid, "linecolor": tones.grid, "tickfont": {"size": 11}, "automargin": True}
    return {
        **look(theme), "height": HEIGHT, "margin": {"l": 48, "r": 10, "t": 10, "b": 44},
        "showlegend": bool(others),
        # Above the lines: beside them it would take half of the panel's width.
        "legend": {"title": {"text": ", ".join(others), "font": {"size": 11}}, "font": {"size": 11}, "orientation": "h",
                   "x": 0, "y": 1.06, "yanchor": "bottom"},
        "xaxis": axis | {"type": "category", "title": {"text": title, "font": {"size": 11}, "standoff": 8}},
        "yaxis": axis | {"rangemode": "tozero", "ticksuffix": f" {unit}", "zeroline": False},
    }  # fmt: skip


def sweep_panel() -> html.Section:
    """The panel, hidden until somebody asks for it and filled then."""
    graph = dcc.Graph(id="sweep-graph", config={"displayModeBar": False}, responsive=True, style={"height": HEIGHT},
                      figure={"data": [], "layout": {"height": HEIGHT}})  # fmt: skip
    waiting = html.Div("predicting every point …", className="dim")
    body = [panel_head("Sweep", "sweep-open"), graph, html.Div(waiting, id="sweep-table", className="sweep-table")]
    return html.Section(body, id="sweep", className="panel sweep", hidden=True, **{"aria-label": "Sweep"})
