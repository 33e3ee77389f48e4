"""What the page does, as plain functions over a source of cases; `register` binds them to ids."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate

from gpusim.dashboard.align import alignment_shift
from gpusim.dashboard.cards import badge_row, card_row, message_panel
from gpusim.dashboard.case import OWN_POINT, Case, CaseError, Source
from gpusim.dashboard.details import details_strip
from gpusim.dashboard.figures import Drawing, timeline_figure
from gpusim.dashboard.gutter import gutter_rows
from gpusim.dashboard.view import MODES, Selection, View

__all__ = ["address_of", "draw", "register", "show_case", "view_of"]


def _number(value: Any) -> float | None:
    """A finite float, or None for anything else a browser or an address may hold."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def address_of(search: str | None) -> dict[str, Any]:
    """The page's address as a dictionary: scenario, point, mode, from, to; nonsense is dropped."""
    query = {key: values[0] for key, values in parse_qs((search or "").lstrip("?")[:2000]).items()}
    mode = query.get("mode")
    low, high = _number(query.get("from")), _number(query.get("to"))
    return {
        "scenario": query.get("scenario"),
        "point": query.get("point", OWN_POINT),
        "mode": mode if mode in MODES else None,
        "window": [low, high] if low is not None and high is not None and low < high else None,
    }


def view_of(key: str, values: Mapping[str, Any]) -> View:
    """The view that the page's controls describe. Window, lanes and selection of another case are dropped."""

    def own(name: str) -> dict[str, Any]:
        held = values.get(name)
        return held if isinstance(held, dict) and held.get("case") == key else {}

    window, lanes, chosen = own("window"), own("lanes"), own("selected")
    low, high = _number(window.get("low")), _number(window.get("high"))
    viewport = values.get("viewport") or {}
    tile = _number(values.get("align_tile"))
    index = _number(chosen.get("index"))
    return View(
        mode=values["mode"] if values.get("mode") in MODES else "stacked",
        window_us=(low, high) if low is not None and high is not None and high > low else None,
        align="event" if values.get("align") == "event" else "kernel",
        align_kind=values.get("align_kind") or "compute",
        align_tile=None if tile is None else int(tile),
        offset_us=_number(values.get("offset")) or 0.0,
        toggled={str(k): bool(v) for k, v in (lanes.get("toggled") or {}).items()},
        pinned=tuple(map(str, lanes.get("pinned") or ())),
        pattern=str(values.get("search") or ""),
        hidden=frozenset(int(c) for c in lanes.get("hidden") or ()),
        critical=bool(values.get("critical")),
        selected=Selection(str(chosen.get("side")), int(index)) if index is not None else None,
        width=int(min(max(_number(viewport.get("width")) or 1100, 200), 8000)),
        height=int(min(max(_number(viewport.get("height")) or 540, 120), 8000)),
        room=int(min(max(_number(viewport.get("room")) or 540, 120), 8000)),
        theme="dark" if values.get("theme") == "dark" else "light",
    )


def show_case(source: Source, name: str | None, point: str | None) -> dict[str, Any]:
    """Everything above the timelines for a scenario, or the message that stands in its place."""
    shown = {
        "question": "", "facts": "", "badges": [], "cards": [], "message": None, "work": {"display": "none"},
        "points": [], "point": "", "point_box": {"display": "none"}, "case": None,
    }  # fmt: skip
    try:
        case = source.case(name or "", point or OWN_POINT)
    except CaseError as error:
        return shown | {"message": message_panel(error.title, str(error)), "question": name or "No scenario"}
    facts: list[Any] = []
    for place, fact in enumerate(case.facts):
        facts += [html.Span("·", className="sep")] * bool(place) + [html.Span(fact)]
    points = [{"value": p.key, "label": p.label} for p in case.points]
    return shown | {
        "question": case.question,
        "facts": facts + [html.Span(note, className="note") for note in case.notes],
        "badges": badge_row(case.badges),
        "cards": card_row(case),
        "work": {},
        "points": points,
        "point": case.point,
        "point_box": {} if len(points) > 1 else {"display": "none"},
        "case": {"name": name, "point": case.point, "key": f"{name}|{case.point}", "measured": bool(case.measured)},
    }


def draw(case: Case, key: str, view: View) -> dict[str, Any]:
    """The figure of a view with lane list, legend, details and messages."""
    path = case.critical if view.critical else None
    drawing = timeline_figure(case.predicted, case.measured, view, case.match, path)
    drawing.figure["layout"]["meta"] = {
        "case": key, "home": list(drawing.home_us), "window": list(drawing.window_us), "theme": view.theme, "mode": view.mode,
    }  # fmt: skip
    shift, _ = alignment_shift(case.predicted, case.measured, view)
    details = details_strip(case, view.selected, shift, view.theme) if view.selected else None
    return {
        "figure": drawing.figure,
        "gutter": gutter_rows(drawing, case.side_notes),
        "height": {"height": f"{drawing.stack.height_px}px"},
        "legend": _legend(drawing),
        "details": _with_close(details),
        "details_style": {} if details else {"display": "none"},
        "notice": " ".join(drawing.messages),
        "search_error": drawing.pattern_error or False,
    }


def _legend(drawing: Drawing) -> list[html.Button]:
    chips: list[Any] = []
    part = ""
    for entry in drawing.legend:
        if entry.of != part:
            part = entry.of
            chips.append(html.Span(part, className="legend-part"))
        swatch = html.Span(className="swatch", style={"background": entry.colour})
        state = "" if entry.shown else " off"
        fixed = entry.category < 0
        chips.append(
            html.Button(
                [swatch, entry.label], className=f"chip{state}{' fixed' if fixed else ''}", title=entry.meaning,
                **({} if fixed else {"data-category": str(entry.category), "aria-pressed": str(entry.shown).lower()}),
            )
        )  # fmt: skip
    count = f"{drawing.intervals:,} intervals in view" + (", binned" if drawing.binned else "")
    return [*chips, html.Span(count, className="count")]


def _with_close(details: list | None) -> list:
    return (
        []
        if details is None
        else [*details, html.Button("×", className="close", **{"data-close": "1"}, title="Close (Esc)")]
    )


_CONTROLS = {
    "mode": ("mode", "value"), "align": ("align", "value"), "align_kind": ("align-kind", "value"),
    "align_tile": ("align-tile", "value"), "offset": ("offset", "value"), "search": ("search", "value"),
    "critical": ("critical", "checked"), "window": ("window", "data"), "lanes": ("lanes", "data"),
    "selected": ("selected", "data"), "viewport": ("viewport", "data"), "theme": ("theme", "data"),
}  # fmt: skip


def register(app: Dash, source: Source) -> None:
    """Bind the functions above to the page."""

    @app.callback(
        output={
            "scenario": Output("scenario", "value"), "mode": Output("mode", "value"),
            "window": Output("window", "data"), "point": Output("address", "data"),
        },
        inputs={"search": Input("url", "search")},
    )  # fmt: skip
    def open_address(search: str | None) -> dict[str, Any]:
        address = address_of(search)
        entries = source.entries()
        # Without a wish, the scenario about which most is known.
        best = max(entries, key=lambda e: (not e.error, e.recorded), default=None)
        name = address["scenario"] or (best.name if best else "")
        window = address["window"]
        key = f"{name}|{address['point']}"
        return {
            "scenario": name,
            "mode": address["mode"] or no_update,
            "window": {"case": key, "low": window[0], "high": window[1]} if window else no_update,
            "point": {"scenario": name, "point": address["point"]},
        }

    @app.callback(
        output={
            "question": Output("question", "children"), "facts": Output("facts", "children"),
            "badges": Output("badges", "children"), "cards": Output("cards", "children"),
            "message": Output("message", "children"), "work": Output("work", "style"),
            "points": Output("point", "data"), "point": Output("point", "value"),
            "point_box": Output("point-box", "style"), "case": Output("case", "data"),
        },
        inputs={"name": Input("scenario", "value"), "point": Input("point", "value")},
        state={"address": State("address", "data")},
    )  # fmt: skip
    def on_scenario(name: str | None, point: str | None, address: dict | None) -> dict[str, Any]:
        picked = ctx.triggered_id == "point"
        if name is None or (picked and not point):
            raise PreventUpdate
        if not picked:
            # A new scenario starts at its own parameters, unless the address asks for a recorded point.
            point = (address or {}).get("point") if (address or {}).get("scenario") == name else None
        shown = show_case(source, name, point)
        shown["point"] = no_update if picked else shown["point"] or None
        return shown

    @app.callback(
        output={
            "figure": Output("drawn", "data"), "gutter": Output("gutter", "children"),
            "height": Output("canvas", "style"), "legend": Output("legend", "children"),
            "details": Output("details", "children"), "details_style": Output("details", "style"),
            "notice": Output("notice", "children"), "search_error": Output("search", "error"),
        },
        inputs={"held": Input("case", "data"), "values": {k: Input(*v) for k, v in _CONTROLS.items()}},
    )  # fmt: skip
    def on_view(held: dict | None, values: dict[str, Any]) -> dict[str, Any]:
        if not held or not values.get("viewport"):
            raise PreventUpdate
        try:
            case = source.case(held["name"], held["point"])
        except CaseError:
            raise PreventUpdate from None
        return draw(case, held["key"], view_of(held["key"], values))

    @app.callback(Output("align-event", "style"), Input("align", "value"))
    def on_align(align: str) -> dict[str, str]:
        return {} if align == "event" else {"display": "none"}

    for outputs, inputs, function in (
        (Output("graph", "figure"), [Input("drawn", "data")], "place"),
        (
            Output("range", "title"),
            [Input("case", "data"), Input("window", "data"), Input("mode", "value")],
            "remember",
        ),
        (Output("help", "opened"), [Input("help-open", "n_clicks")], "help"),
        (Output("theme", "data"), [Input("theme-toggle", "n_clicks"), State("theme", "data")], "toggleTheme"),
        (Output("provider", "forceColorScheme"), [Input("theme", "data")], "theme"),
    ):
        app.clientside_callback(
            ClientsideFunction("gpusim", function),
            outputs,
            *inputs,
            prevent_initial_call=function in ("help", "toggleTheme"),
        )
    for name, step in (("zoom-in", "zoomIn"), ("zoom-out", "zoomOut"), ("zoom-home", "zoomHome")):
        app.clientside_callback(
            ClientsideFunction("gpusim", step),
            Output(name, "n_clicks"),
            Input(name, "n_clicks"),
            prevent_initial_call=True,
        )
