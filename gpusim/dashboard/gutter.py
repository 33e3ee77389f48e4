"""Lane names beside the figure: rows at the figure's own heights, to fold, pin and read."""

from __future__ import annotations

from collections.abc import Mapping

from dash import html

from gpusim.dashboard.figures import Drawing
from gpusim.dashboard.geometry import HEADER_PX, Panel
from gpusim.dashboard.lanes import Row

__all__ = ["gutter_rows"]


def gutter_rows(drawing: Drawing, notes: Mapping[str, str] | None = None) -> list[html.Div]:
    """Absolutely placed rows; the page's script turns clicks on ``data-*`` into view changes."""
    parts: list[html.Div] = []
    for panel in drawing.stack.panels:
        note = (notes or {}).get(panel.side, "")
        head = [html.Span(panel.title, className="panel-title"), html.Span(note, className="panel-note")]
        style = {"top": f"{panel.top_px - HEADER_PX}px", "height": f"{HEADER_PX}px"}
        parts.append(html.Div(head, className="panel-head", style=style))
        if panel.side == "drift":
            parts.append(_block(panel))
            continue
        parts += [_row(row, panel, place) for place, row in enumerate(panel.rows)]
        if not panel.rows:
            parts.append(_block(panel, "No lanes"))
    return parts


def _block(panel: Panel, text: str = "") -> html.Div:
    style = {"top": f"{panel.top_px}px", "height": f"{panel.height_px}px"}
    return html.Div(text, className="lane-block", style=style)


def _row(row: Row, panel: Panel, place: int) -> html.Div:
    top, bottom = panel.edges[place : place + 2]
    small = bottom - top < 17
    style = {
        "top": f"{panel.top_px + top:g}px",
        "height": f"{bottom - top:g}px",
        "paddingLeft": f"{6 + 13 * row.depth + (0 if row.group else 15)}px",
    }
    kind = "heading" if row.heading else "closed" if row.group and len(row.lanes) > 1 else "leaf"
    children: list = []
    if row.group:
        children.append(html.Span("▾" if row.open else "▸", className="chevron"))
    children.append(html.Span(row.label, className="lane-name"))
    if row.more:
        what = "lane" if len(row.lanes) > 1 else "warp"
        plus = "" if len(row.lanes) > 1 else "+"
        children.append(html.Span(f"{plus}{row.more} {what}{'s' if row.more > 1 else ''}", className="lane-count"))
    attributes = {"data-path": row.path, "data-open": "1" if row.open else "0"}
    if len(row.lanes) == 1 and not row.heading:
        pin = html.Span("●" if row.pinned else "○", className="pin",
                        title="Unpin" if row.pinned else "Pin to the top", **{"data-pin": row.lanes[0]})  # fmt: skip
        children.append(pin)
    title = row.lanes[0] if len(row.lanes) == 1 else f"{row.label}: {len(row.lanes)} lanes" if row.lanes else row.label
    name = f"lane-row {kind}{' group' if row.group else ''}{' small' if small else ''}{' pinned' if row.pinned else ''}"
    return html.Div(children, className=name, style=style, title=title, **attributes)
