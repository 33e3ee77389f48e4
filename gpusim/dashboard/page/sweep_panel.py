"""The panel of a sweep: predicted lines with the measured points on them, and the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from gpusim.dashboard.figure.layout import look
from gpusim.dashboard.figure.palette import LINES, ink
from gpusim.dashboard.figure.text import even_text, signed_percent
from gpusim.dashboard.figure.ticks import LONG_US
from gpusim.dashboard.figure.track import MICRO
from gpusim.dashboard.page.panel import panel_head
from gpusim.dashboard.page.sweeps import Sweep, SweepRow

__all__ = ["PICK", "sweep_figure", "sweep_panel", "sweep_table"]

PICK = "pick"
"""Type of the ids of table rows; their ``changes`` are those of the point, one a line."""
HEIGHT = 200
_MARKS = ("● predicted", "○ measured", "★ best")
"""What the marks are, beside the axis: a legend would take the width of the lines."""


def sweep_figure(sweep: Sweep, theme: str) -> dict[str, Any]:
    """Totals over the axis with most values, one line for each combination of the others.

    Best ones are stars, measured points open circles in the colour of their line. A click tells a point's changes.
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
    best = next(iter(sweep.ranked), None)
    traces = []
    for number, (rest, points) in enumerate(lines.items()):
        shade, name = LINES[number % len(LINES)], ", ".join(rest)
        traces.append(_trace(points, "predicted_s", scale, name, shade, best))
        if any(row.measured_s for _, row in points):
            traces.append(_trace(points, "measured_s", scale, f"{name} measured".strip(), shade, sweep.measured_best))
    if any(row.measured_s for row in sweep.rows):
        title = "    ".join((title, *_MARKS))
    return {"data": traces, "layout": _layout(title, others, unit, theme)}


def _trace(
    points: Sequence[tuple[str, SweepRow]], side: str, scale: float, name: str, shade: str, best: SweepRow | None
) -> dict[str, Any]:
    shown = [(place, row) for place, row in points if getattr(row, side) is not None]
    measured = side == "measured_s"
    stars = ["star" if row is best else "circle-open" if measured else "circle" for _, row in shown]
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
    lines = [", ".join(row.values), f"predicted {_time(row.predicted_s)}"]
    if row.measured_s:
        lines.append(f"measured {_time(row.measured_s)}{_error(row)}")
    return "<br>".join(lines)


def _error(row: SweepRow) -> str:
    return f", {signed_percent(row.predicted_s / row.measured_s - 1)}" if row.predicted_s and row.measured_s else ""


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else even_text(seconds * MICRO)


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


def sweep_table(sweep: Sweep, changes: Sequence[str]) -> html.Table:
    """The ranking; a row that is clicked opens its timelines. Points that cannot run come last, with the reason."""
    least_s = sweep.cost_s(sweep.ranked[0]) if sweep.ranked else 1.0
    per = sweep.yardstick.per
    head = [*sweep.labels, "predicted", f"of best, per {per}" if per else "of best", "measured", "error"]
    body = [_row(row, sweep.cost_s(row) / least_s, sweep.measured_best, set(changes)) for row in sweep.ranked]
    body += [
        html.Tr([*map(html.Td, row.values), html.Td(row.error, colSpan=4, className="bad", title=row.error)])
        for row in sweep.rows
        if row.error
    ]
    note = sweep.yardstick.told
    return html.Table(
        [
            *([html.Caption(note)] if note else []),
            html.Thead(html.Tr([html.Th(word) for word in head])),
            html.Tbody(body),
        ],
        className="ranking",
    )


def _row(row: SweepRow, of_best: float, measured_best: SweepRow | None, changes: set[str]) -> html.Tr:
    cells = [
        *row.values, _time(row.predicted_s), f"{of_best:.3f}×", _time(row.measured_s), _error(row).removeprefix(", "),
    ]  # fmt: skip
    shown = [html.Td(cell) for cell in cells]
    if row is measured_best:
        shown[-2] = html.Td(html.B(cells[-2], title="the best measured"))
    here = " here" if set(row.changes) <= changes else ""
    return html.Tr(shown, id={"type": PICK, "changes": "\n".join(row.changes)}, className=f"pick{here}", n_clicks=0)


def sweep_panel() -> html.Section:
    """The panel, hidden until somebody asks for it and filled then."""
    graph = dcc.Graph(id="sweep-graph", config={"displayModeBar": False}, responsive=True, style={"height": HEIGHT},
                      figure={"data": [], "layout": {"height": HEIGHT}})  # fmt: skip
    waiting = html.Div("predicting every point …", className="dim")
    body = [panel_head("Sweep", "sweep-open"), graph, html.Div(waiting, id="sweep-table", className="sweep-table")]
    return html.Section(body, id="sweep", className="panel sweep", hidden=True, **{"aria-label": "Sweep"})
