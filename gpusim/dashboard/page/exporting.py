"""What is shown, as files: a menu, and what it hands to the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate
from plotly.io import to_html

from gpusim.dashboard.figure.standalone import standalone
from gpusim.dashboard.figure.view import View
from gpusim.dashboard.page.address import CONTROLS, asked_of, view_of
from gpusim.dashboard.page.build import build_case
from gpusim.dashboard.page.case import Asked, Case, CaseError, CaseSource
from gpusim.dashboard.page.content import drawing_of
from gpusim.scenario import Scenario
from gpusim.timeline import Timeline
from gpusim.timeline.export import to_chrome_json, to_csv

__all__ = ["export_menu", "exported", "page_of", "picture_of", "register_exporting"]

_TIMELINES: dict[str, tuple[str, str, Callable[[Mapping[str, Timeline]], str]]] = {
    "export-json": ("All intervals: Chrome JSON, for Perfetto (.json)", "json", to_chrome_json),
    "export-csv": ("All intervals: a table (.csv)", "csv", to_csv),
}
"""By the id of a menu entry what it says, the file's ending, and what writes it."""
_PAGE = "export-html"
_PICTURES = {"export-png": "png", "export-svg": "svg"}
"""Formats that only a browser can draw, by the id of a menu entry."""
_VIEWS = {
    "export-png": "What is shown: a picture (.png)",
    "export-svg": "What is shown: vector graphics (.svg)",
    _PAGE: "What is shown: a page to zoom and hover, offline (.html)",
}
_FREE_TICKS = {"tickmode": "auto", "ticksuffix": " µs", "exponentformat": "none", "separatethousands": True}
"""The time axis of a page, on which anybody zooms to where the shown figure has no ticks."""
PAGE_CONFIG = {"displaylogo": False, "scrollZoom": True}


def export_menu() -> html.Div:
    """The button in the page's header, and what takes the file to the browser."""
    told = _VIEWS | {name: words for name, (words, _, _) in _TIMELINES.items()}
    entries = [dmc.MenuItem(words, id=name) for name, words in told.items()]
    button = dmc.Button("Export", size="compact-sm", variant="default",
                        **{"aria-label": "Save the picture, or the timelines for other tools"})  # fmt: skip
    menu = dmc.Menu([dmc.MenuTarget(button), dmc.MenuDropdown(entries)], position="bottom-start")
    return html.Div([menu, dcc.Download(id="download"), dcc.Store(id="picture"), html.Span(id="pictured", hidden=True)])


def page_of(scenario: Scenario, timeline: Timeline) -> str:
    """The page that is saved of a scenario as its file says it, with its prediction ``timeline`` and its recording."""
    return exported(build_case(Asked(scenario.name), scenario, scenario, timeline, {}), _PAGE)[1]


def exported(case: Case, entry: str, view: View | None = None) -> tuple[str, str]:
    """Name and text of the file that a menu ``entry`` stands for.

    A table or trace holds all of both sides, a page what ``view`` shows, with everything that it needs offline.
    """
    if entry == _PAGE:
        figure = picture_of(case, view or View())
        figure["layout"]["xaxis"] |= _FREE_TICKS
        text = to_html(figure, config=PAGE_CONFIG, include_plotlyjs=True, full_html=True, validate=False)
        return f"{case.name}.html", text
    _, ending, write = _TIMELINES[entry]
    sides = {track.title: track.timeline for track in (case.predicted, case.other) if track is not None}
    return f"{case.name}.{ending}", write(sides)


def picture_of(case: Case, view: View) -> dict[str, Any]:
    """What ``view`` shows as a figure of its own: names of lanes, legend and heading are in it."""
    return standalone(drawing_of(case, view), case.question, " · ".join(case.facts), case.side_notes, view.theme)


def register_exporting(app: Dash, source: CaseSource) -> None:
    """Bind the menu to what the page shows."""

    @app.callback(
        output={"file": Output("download", "data"), "picture": Output("picture", "data")},
        inputs={"pressed": [Input(name, "n_clicks") for name in (*_VIEWS, *_TIMELINES)]},
        state={"held": State("case", "data"), "values": {k: State(*v) for k, v in CONTROLS.items()}},
        prevent_initial_call=True,
    )
    def on_export(pressed: list, held: dict | None, values: dict[str, Any]) -> dict[str, Any]:
        if not held or not any(pressed):
            raise PreventUpdate
        try:
            case = source.case(asked_of(held))
        except CaseError:
            raise PreventUpdate from None
        view, entry = view_of(held["key"], values), ctx.triggered_id
        if entry in _PICTURES:
            picture = {"figure": picture_of(case, view), "format": _PICTURES[entry], "name": case.name}
            return {"file": no_update, "picture": picture}
        name, text = exported(case, entry, view)
        return {"file": dcc.send_string(text, name), "picture": no_update}

    app.clientside_callback(
        ClientsideFunction("gpusim", "picture"), Output("pictured", "children"), Input("picture", "data"),
        prevent_initial_call=True,
    )  # fmt: skip
