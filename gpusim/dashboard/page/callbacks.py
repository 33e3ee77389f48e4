"""Binds the page's ids to plain functions over a source of cases."""

from __future__ import annotations

from typing import Any

from dash import ALL, MATCH, ClientsideFunction, Dash, Input, Output, State
from dash.exceptions import PreventUpdate

from gpusim.dashboard.page.address import CONTROLS, asked_of
from gpusim.dashboard.page.asking import register_asking, register_file
from gpusim.dashboard.page.case import CaseSource
from gpusim.dashboard.page.changing import register_changing
from gpusim.dashboard.page.content import DRAWN, show_advice, show_cards, show_drawn, show_sweep
from gpusim.dashboard.page.editor import register_editor
from gpusim.dashboard.page.exporting import register_exporting
from gpusim.dashboard.page.importing import register_importing
from gpusim.dashboard.page.panel import FIELD, SLIDER
from gpusim.dashboard.page.typed_text import register_text

__all__ = ["register"]


def register(app: Dash, source: CaseSource) -> None:
    """Bind the page to ``source`` and to its own scripts."""
    register_asking(app, source)
    register_file(app, source)
    register_changing(app, source)
    register_text(app, source)
    register_editor(app)
    register_exporting(app, source)
    register_importing(app, source)
    _register_shown(app, source)
    _register_scripts(app)
    _register_fields(app)


def _register_shown(app: Dash, source: CaseSource) -> None:
    """Bind what is drawn of a case to the case and to the controls of the page."""

    # A case comes with its timelines (`shown_after`): this is for all else that changes them.
    @app.callback(
        output={key: Output(*of) for key, of in DRAWN.items()},
        inputs={"values": {k: Input(*v) for k, v in CONTROLS.items()}},
        state={"held": State("case", "data")},
    )
    def on_view(values: dict[str, Any], held: dict | None) -> dict[str, Any]:
        shown = show_drawn(source, held, values)
        if not shown:
            raise PreventUpdate
        return shown

    # Behind the first picture, which `advisable` announces: a dozen predictions must not hold it up.
    @app.callback(
        Output("advice", "children"), Input("advised", "data"), State("case", "data"), prevent_initial_call=True
    )
    def on_drawn(key: str | None, held: dict | None) -> list[Any]:
        if not held or held["key"] != key:
            raise PreventUpdate
        return show_advice(source, asked_of(held))

    @app.callback(
        Output("cards", "children", allow_duplicate=True), Input("advised", "data"), State("case", "data"),
        prevent_initial_call=True,
    )  # fmt: skip
    def on_rest(key: str | None, held: dict | None) -> list[Any]:
        cards = show_cards(source, asked_of(held)) if held and held["key"] == key else []
        if not cards:
            raise PreventUpdate
        return cards

    @app.callback(
        Output("sweep-graph", "figure"), Output("sweep-table", "children"),
        Input("sweep", "hidden"), Input("advised", "data"), Input("theme", "data"), State("case", "data"),
        prevent_initial_call=True,
    )  # fmt: skip
    def on_sweep(hidden: bool, _advised: Any, theme: str | None, held: dict | None) -> tuple[dict, Any]:
        if hidden or not held:
            raise PreventUpdate
        return show_sweep(source, asked_of(held), theme or "light")

    @app.callback(Output("align-event", "style"), Input("align", "value"))
    def on_align(align: str) -> dict[str, str]:
        return {} if align == "event" else {"display": "none"}


_ON_REQUEST = ("help", "fold", "toggleTheme", "zoomIn", "zoomOut", "zoomHome")
"""Scripts that answer a button, and must not run when the page opens."""


def _register_scripts(app: Dash) -> None:
    """Bind the scripts in ``assets/`` that answer without the server."""
    for output, inputs, function in (
        (
            Output("graph", "figure"),
            [Input("drawn", "data"), State("case", "data"), State("viewport", "data")],
            "place",
        ),
        (Output("advised", "data"), [Input("drawn", "data"), State("advised", "data")], "advisable"),
        (
            Output("range", "title"),
            [Input("case", "data"), Input("window", "data"), Input("mode", "value")],
            "remember",
        ),
        (Output("help", "opened"), [Input("help-open", "n_clicks")], "help"),
        (Output("what-if", "hidden"), [Input("what-if-open", "n_clicks"), State("what-if", "hidden")], "fold"),
        (Output("sweep", "hidden"), [Input("sweep-open", "n_clicks"), State("sweep", "hidden")], "fold"),
        (Output("theme", "data"), [Input("theme-toggle", "n_clicks"), State("theme", "data")], "toggleTheme"),
        (Output("provider", "forceColorScheme"), [Input("theme", "data")], "theme"),
        (Output("zoom-in", "n_clicks"), [Input("zoom-in", "n_clicks")], "zoomIn"),
        (Output("zoom-out", "n_clicks"), [Input("zoom-out", "n_clicks")], "zoomOut"),
        (Output("zoom-home", "n_clicks"), [Input("zoom-home", "n_clicks")], "zoomHome"),
    ):
        script = ClientsideFunction("gpusim", function)
        app.clientside_callback(script, output, *inputs, prevent_initial_call=function in _ON_REQUEST)


def _register_fields(app: Dash) -> None:
    """Bind the scripts that mark the fields of a what-if, and keep sliders in step with what is typed."""
    every, field, slider = ({"type": kind, "path": which} for kind, which in
                            ((FIELD, ALL), (FIELD, MATCH), (SLIDER, MATCH)))  # fmt: skip
    # From a slider to its input by the script itself: as an output it would close a circle.
    for outputs, inputs, function in (
        ([Output(every, "error"), Output(every, "className")],
         [Input("wrong-fields", "data"), Input("changes", "data"), State(every, "id")], "mark"),
        ([Output(slider, "value")], [Input(field, "value"), State(slider, "label"), State(slider, "value")], "slide"),
        ([Output(slider, "title")],
         [Input(slider, "value"), State(slider, "label"), State(field, "value"), State(field, "id")], "type"),
    ):  # fmt: skip
        script = ClientsideFunction("gpusimFields", function)
        app.clientside_callback(script, *outputs, *inputs, prevent_initial_call=True)
