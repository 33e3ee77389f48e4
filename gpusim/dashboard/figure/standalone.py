"""A drawing as a figure that needs no page around it: with its heading, the names of its lanes and its legend."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

from gpusim.dashboard.figure.figures import Drawing
from gpusim.dashboard.figure.geometry import AXIS_PX, HEADER_PX, Panel
from gpusim.dashboard.figure.palette import ink

__all__ = ["standalone"]

LANES_PX = 184
"""Room for the names of lanes, left of the plot."""
HEADING_PX = 58
ENTRY_PX, LETTER_PX, LEGEND_ROW_PX = 48, 6.4, 24
"""Room of an entry of the legend without its words, of each of their letters, and of a row of entries."""
INDENT_PX = 13


def standalone(drawing: Drawing, heading: str, facts: str, notes: Mapping[str, str], theme: str) -> dict[str, Any]:
    """The figure of ``drawing`` under a ``heading`` and a line of ``facts``; ``notes`` stand beside panel titles.

    Plain dictionaries, as plotly takes them. What hovering over bins would tell is left out: only the page can show it.
    """
    layout, tones = drawing.figure["layout"], ink(theme)
    width = layout["width"] + LANES_PX
    legend_px = LEGEND_ROW_PX * _legend_rows(drawing, layout["width"])
    margin = {"l": LANES_PX, "r": 20, "t": HEADING_PX + HEADER_PX, "b": AXIS_PX + legend_px, "pad": 0}
    names = [note for panel in drawing.stack.panels for note in _names(panel, notes, tones.text, tones.dim)]
    around = {
        "width": width,
        "height": layout["height"] + HEADING_PX + legend_px,
        "margin": margin,
        "paper_bgcolor": tones.panel,
        "plot_bgcolor": tones.panel,
        "showlegend": True,
        "title": {
            "text": html.escape(heading), "font": {"size": 16, "color": tones.text},
            "subtitle": {"text": html.escape(facts), "font": {"size": 11, "color": tones.dim}},
            "x": 0, "xref": "container", "xanchor": "left", "pad": {"l": 12, "t": 12},
            "y": 1, "yref": "container", "yanchor": "top", "automargin": False,
        },
        "legend": {
            "orientation": "h", "xref": "container", "x": 0, "xanchor": "left",
            "yref": "container", "y": 0, "yanchor": "bottom", "tracegroupgap": 4,
        },
        "annotations": [*layout.get("annotations", ()), *names],
    }  # fmt: skip
    for axis in (name for name in layout if name.startswith("yaxis")):
        around[axis] = layout[axis] | {"ticks": ""}  # a bare figure would have some beside the names
    if drawing.drift_labels:
        axis = "yaxis" + drawing.stack.panels[-1].axis[1:]
        around[axis] |= {"showticklabels": True, "ticktext": [text for _, text in drawing.drift_labels]}
    return {"data": [*map(_alone, drawing.figure["data"]), *_legend(drawing)], "layout": layout | around}


def _alone(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A trace without what only the page makes use of; the legend's entry of the same name switches it."""
    kept = {key: value for key, value in trace.items() if key not in ("meta", "customdata")}
    return kept | ({"legendgroup": trace["name"]} if "name" in trace else {})


def _legend(drawing: Drawing) -> Iterator[dict[str, Any]]:
    """An entry for each colour, as traces of no point: bins of several colours are one trace, which has no entry."""
    for entry in drawing.legend:
        if entry.shown:
            yield {
                "type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": entry.label,
                "legendgroup": entry.label, "showlegend": True, "hoverinfo": "skip",
                "marker": {"symbol": "square", "size": 11, "color": entry.colour},
            }  # fmt: skip


def _legend_rows(drawing: Drawing, width_px: float) -> int:
    """Rows that the legend needs: plotly fills one after the other, as wide as the plot."""
    rows, taken = 1, 0.0
    for entry in drawing.legend:
        if entry.shown:
            room = ENTRY_PX + LETTER_PX * len(entry.label)
            rows, taken = (rows, taken + room) if taken + room <= width_px else (rows + 1, room)
    return rows


def _names(panel: Panel, notes: Mapping[str, str], text: str, dim: str) -> Iterator[dict[str, Any]]:
    """The title of a panel and the names of its rows, left of the plot."""
    note = notes.get(panel.side, "")
    title = f"<b>{html.escape(panel.title)}</b>" + (f"  {html.escape(note)}" if note else "")
    above = {"yref": f"{panel.axis} domain", "y": 1, "yanchor": "bottom", "yshift": 3}
    yield _text(title, text, 12) | above | {"xshift": 12 - LANES_PX}
    if panel.side == "drift":
        return  # its rows are there for their height
    for row, low, high in zip(panel.rows, panel.edges, panel.edges[1:], strict=False):
        indent = 12 + INDENT_PX * row.depth
        size = 9 if row.heading else 11
        yield _text(html.escape(row.label), dim if row.group else text, size) | {
            "yref": panel.axis, "y": float(low + high) / 2, "yanchor": "middle", "xshift": indent - LANES_PX,
            "width": LANES_PX - indent - 4, "height": size + 5,
        }  # fmt: skip


def _text(words: str, colour: str, size: int) -> dict[str, Any]:
    return {
        "xref": "paper", "x": 0, "xanchor": "left", "align": "left", "text": words, "showarrow": False,
        "font": {"size": size, "color": colour}, "borderpad": 0,
    }  # fmt: skip
