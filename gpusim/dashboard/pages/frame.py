"""What every page beside the timelines has: an application of its own, the header with the way to the others.

Each page is a Dash application on the same server, so that ids, callbacks and scripts of one cannot meet those of
another, and leaving a page is what it is everywhere: following a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from flask import Flask, has_request_context, request

from gpusim.dashboard.figure.palette import FONT
from gpusim.dashboard.page.layout import brand, navigation

__all__ = ["ASSETS", "asked_query", "frame", "message_sheet", "new_page"]

ASSETS = Path(__file__).parents[1] / "assets"
_OF_TIMELINES = r"^[bcf]_"
"""Scripts that look for the timelines of the main page."""


def new_page(server: Flask, name: str) -> Dash:
    """The application of the page called ``name`` (as in `navigation`), served below ``/name/``."""
    app = Dash(
        f"gpusim.{name}",
        server=server,
        url_base_pathname=f"/{name}/",
        title=f"gpusim · {name.capitalize()}",
        update_title=None,
        assets_folder=str(ASSETS),
        assets_ignore=_OF_TIMELINES,
        serve_locally=True,
        suppress_callback_exceptions=True,
    )
    for output, inputs, function in (
        (Output("theme", "data"), [Input("theme-toggle", "n_clicks"), State("theme", "data")], "toggleTheme"),
        (Output("provider", "forceColorScheme"), [Input("theme", "data")], "theme"),
    ):
        asked = function == "toggleTheme"
        app.clientside_callback(ClientsideFunction("gpusim", function), output, *inputs, prevent_initial_call=asked)
    return app


def asked_query() -> str:
    """The query of the page's address, which the request for its layout names as where it comes from."""
    return (request.referrer or "").partition("#")[0].partition("?")[2] if has_request_context() else ""


def frame(name: str, title: str, lead: Any, body: Sequence[Any]) -> dmc.MantineProvider:
    """A page: header, a title with a sentence or two that say what it shows, and below it ``body``, which scrolls."""
    header = html.Header(
        [
            brand(),
            navigation(name),
            html.Div(className="grow"),
            dmc.ActionIcon("◐", id="theme-toggle", variant="subtle", color="gray", **{"aria-label": "Light or dark"}),
        ],
        className="header",
    )
    headline = html.Div([html.H1(title, className="question"), html.P(lead, className="lead")], className="headline")
    sheet = html.Main([headline, *body], className="sheet", id="sheet", tabIndex=-1)
    theme = {"fontFamily": FONT, "primaryColor": "blue", "defaultRadius": "sm"}
    return dmc.MantineProvider(
        html.Div([dcc.Store(id="theme", storage_type="local"), header, sheet], className="app", id="app"),
        id="provider", theme=theme, forceColorScheme="light",
    )  # fmt: skip


def message_sheet(title: str, text: str) -> html.Div:
    """What stands in the place of something that cannot be shown."""
    return html.Div([html.Div(title, className="message-title"), html.Pre(text, className="message-text")],
                    className="message")  # fmt: skip
