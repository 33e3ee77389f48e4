"""Lane names beside the figure: rows at the figure's own heights, to fold, pin and read."""

from __future__ import annotations

from collections.abc import Mapping

from dash import html

from gpusim.dashboard.figure.figures import Drawing
from gpusim.dashboard.figure.geometry import HEADER_PX, Panel
from gpusim.dashboard.figure.lane_list import Row
from gpusim.dashboard.figure.text import counted
from gpusim.timeline.lane_names import last_part

__all__ = ["gutter_rows"]

BEYOND = "▲ ▼ lie beyond this scale"
BINNED, HEIGHTS = "binned: hover for shares of the time", "binned: heights are shares of the time"


def gutter_rows(
    drawing: Drawing, notes: Mapping[str, str] | None = None, warps: Mapping[str, int] | None = None
) -> list[html.Div]:
    """Absolutely placed rows; the page's script turns clicks on ``data-*`` into view changes.

    ``notes`` stand beside the titles of the sides, ``warps`` says how many each role has.
    """
    parts: list[html.Div] = []
    for panel in drawing.stack.panels:
        binned = (HEIGHTS if _has_heights(drawing, panel) else BINNED) if drawing.binned and panel.lanes() else ""
        beyond = BEYOND if panel.side == "drift" and _has_arrows(drawing) else ""
        note = ", ".join(filter(None, [(notes or {}).get(panel.side, ""), binned, beyond]))
        head = [html.Span(panel.title, className="panel-title"), html.Span(note, className="panel-note", title=note)]
        style = {"top": f"{panel.top_px - HEADER_PX}px", "height": f"{HEADER_PX}px"}
        parts.append(html.Div(head, className="panel-head", style=style))
        if panel.side == "drift":
            parts.append(_block(panel))
            parts += [_drift_label(panel, *label) for label in drawing.drift_labels]
            continue
        parts += [_row(row, panel, place, warps or {}) for place, row in enumerate(panel.rows)]
        if not panel.rows:
            parts.append(_block(panel, "No lanes"))
    return parts


def _has_heights(drawing: Drawing, panel: Panel) -> bool:
    """Whether a strip of the panel has several levels."""
    strips = [
        trace["meta"]["strips"]
        for trace in drawing.figure["data"]
        if trace["type"] == "heatmap" and trace["yaxis"] == panel.axis
    ]
    return any(len(set(levels)) < len(levels) for levels in strips)


def _has_arrows(drawing: Drawing) -> bool:
    return any("symbol" in trace.get("marker", {}) for trace in drawing.figure["data"])


def _block(panel: Panel, text: str = "") -> html.Div:
    style = {"top": f"{panel.top_px}px", "height": f"{panel.height_px}px"}
    return html.Div(text, className="lane-block", style=style)


def _drift_label(panel: Panel, place_px: float, text: str) -> html.Div:
    return html.Div(text, className="drift-label", style={"top": f"{panel.top_px + place_px:g}px"})


def _count(row: Row, warps: Mapping[str, int]) -> str:
    """What a closed row holds: its lanes, or for a role its warps, of which only those that differ have lanes."""
    if not row.own:
        return counted(row.more, "lane")
    several = warps.get(last_part(row.own).text)
    return counted(several, "warp") if several else f"+{counted(row.more, 'lane')}"


def _row(row: Row, panel: Panel, place: int, warps: Mapping[str, int]) -> html.Div:
    top, bottom = panel.edges[place : place + 2]
    small = bottom - top < 17
    style = {
        "top": f"{panel.top_px + top:g}px",
        "height": f"{bottom - top:g}px",
        "paddingLeft": f"{6 + 13 * row.depth + (0 if row.group else 15)}px",
    }
    kind = "heading" if row.heading else "closed" if row.group and not row.own else "leaf"
    children: list = []
    if row.group:
        children.append(html.Span("▾" if row.open else "▸", className="chevron"))
    children.append(html.Span(row.label, className="lane-name"))
    if row.more:
        children.append(html.Span(_count(row, warps), className="lane-count"))
    attributes = {"data-path": row.path, "data-open": "1" if row.open else "0"}
    if row.own and not row.heading:
        pin = html.Span("●" if row.pinned else "○", className="pin",
                        title="Unpin" if row.pinned else "Pin to the top", **{"data-pin": row.own})  # fmt: skip
        children.append(pin)
    title = row.own or (f"{row.label}: {len(row.lanes)} lanes" if row.lanes else row.label)
    name = f"lane-row {kind}{' group' if row.group else ''}{' small' if small else ''}{' pinned' if row.pinned else ''}"
    return html.Div(children, className=name, style=style, title=title, **attributes)
