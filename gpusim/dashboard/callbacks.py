"""Binds the page's ids to plain functions over a source of cases."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from gpusim.dashboard.address import view_of
from gpusim.dashboard.case import CaseError, Source
from gpusim.dashboard.content import draw, show_advice, show_case

__all__ = ["register"]

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
            "question": Output("question", "children"), "facts": Output("facts", "children"),
            "badges": Output("badges", "children"), "cards": Output("cards", "children"),
            "message": Output("message", "children"), "work": Output("work", "style"),
            "points": Output("point", "data"), "point": Output("point", "value"),
            "point_box": Output("point-box", "style"), "case": Output("case", "data"),
            "advice": Output("advice", "children", allow_duplicate=True),
            "advised": Output("advised", "data", allow_duplicate=True),
        },
        inputs={"name": Input("scenario", "value"), "point": Input("point", "value")},
        state={"held": State("case", "data")},
        prevent_initial_call=True,
    )  # fmt: skip
    def on_scenario(name: str | None, point: str | None, held: dict | None) -> dict[str, Any]:
        picked = ctx.triggered_id == "point"
        # Showing a scenario sets the point too, which is no wish of the user.
        if name is None or (picked and (not point or (held and (held["name"], held["point"]) == (name, point)))):
            raise PreventUpdate
        shown = show_case(source, name, point if picked else None)
        shown["point"] = no_update if picked else shown["point"] or None
        return {**shown, "advised": None}

    @app.callback(
        output={
            "figure": Output("drawn", "data"), "gutter": Output("gutter", "children"),
            "height": Output("canvas", "style"), "legend": Output("legend", "children"),
            "count": Output("count", "children"),
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

    # Behind the first picture, which `advisable` announces: a dozen predictions must not hold it up.
    @app.callback(
        Output("advice", "children"), Input("advised", "data"), State("case", "data"), prevent_initial_call=True
    )
    def on_drawn(key: str | None, held: dict | None) -> list[Any]:
        if not held or held["key"] != key:
            raise PreventUpdate
        return show_advice(source, held["name"], held["point"])

    @app.callback(Output("align-event", "style"), Input("align", "value"))
    def on_align(align: str) -> dict[str, str]:
        return {} if align == "event" else {"display": "none"}

    for outputs, inputs, function in (
        (Output("graph", "figure"), [Input("drawn", "data")], "place"),
        (Output("advised", "data"), [Input("drawn", "data"), State("advised", "data")], "advisable"),
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
