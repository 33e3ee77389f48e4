"""The accuracy page: every recording beside its prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.exceptions import PreventUpdate
from flask import Flask

from gpusim.dashboard.figure.text import counted
from gpusim.dashboard.page.case import CaseSource
from gpusim.dashboard.page.layout import PAGES
from gpusim.dashboard.pages.accuracy_figure import HEIGHT, VIEWS, accuracy_figure
from gpusim.dashboard.pages.accuracy_rows import (
    BEYOND,
    COLUMNS,
    Wanted,
    chosen,
    known_cases,
    sorted_cases,
    wanted_of,
)
from gpusim.dashboard.pages.accuracy_tables import (
    address_in,
    case_table,
    summary_cards,
    technique_table,
)
from gpusim.dashboard.pages.frame import asked_query, frame, message_sheet, new_page
from gpusim.dashboard.pages.plain import plain
from gpusim.errors import GpusimError
from gpusim.validation import accuracy

__all__ = ["pointed", "register_accuracy"]

NAME = "accuracy"
FIRST = 60
"""Rows of the table to begin with, and how many each click adds."""
_FILTERS = {
    "technique": ("technique", "value"), "device": ("device", "value"), "beyond": ("beyond", "value"),
    "words": ("words", "value"),
}  # fmt: skip
_SHOWN = (("summary", "children"), ("tables", "data"), ("more", "children"), ("more", "style"))


def register_accuracy(server: Flask, source: CaseSource) -> Dash:
    """Serve the page; ``source`` knows which scenario shows a recording."""
    app = new_page(server, NAME)
    app.layout = partial(_opening, source)

    # The first picture comes behind the page: what draws it takes longer to load than all else.
    @app.callback(
        Output("scatter-box", "children"),
        inputs={"filters": _inputs(), "view": Input("view", "value"), "theme": Input("theme", "data")},
    )
    def on_view(filters: dict, view: str, theme: str | None) -> dcc.Graph:
        return _graph(_wanted(filters, {}), view, theme or "light")

    @app.callback(
        *(Output(*place) for place in _SHOWN),
        inputs={"filters": _inputs(), "order": Input("order", "data"), "rows": Input("rows", "data")},
        prevent_initial_call=True,
    )
    def on_wanted(filters: dict, order: dict, rows: int) -> tuple:
        return tuple(_shown(source, _wanted(filters, order), rows).values())

    @app.callback(Output("rows", "data"), Input("more", "n_clicks"), State("rows", "data"), prevent_initial_call=True)
    def on_more(_clicks: int, rows: int) -> int:
        return int(rows) + FIRST * 4

    @app.callback(Output("go", "data"), Input("scatter", "clickData"), prevent_initial_call=True)
    def on_point(click: dict | None) -> str:
        return pointed(source, click)

    app.clientside_callback(ClientsideFunction("gpusimPages", "go"), Input("go", "data"))
    app.clientside_callback(ClientsideFunction("gpusimPages", "fill"), Input("tables", "data"))
    app.clientside_callback(
        ClientsideFunction("gpusimPages", "remember"),
        *_inputs().values(), Input("order", "data"), prevent_initial_call=True,
    )  # fmt: skip
    return app


def _inputs() -> dict[str, Input]:
    return {name: Input(*place) for name, place in _FILTERS.items()}


def pointed(source: CaseSource, click: Mapping[str, Any] | None) -> str:
    """Where the case of a clicked point is shown."""
    number = click["points"][0].get("customdata") if click else None
    cases, _ = known_cases()
    address = address_in(source.finder(), cases[number]) if isinstance(number, int) and number < len(cases) else ""
    if not address:
        raise PreventUpdate
    return address


def _wanted(filters: Mapping[str, Any], order: Mapping[str, Any]) -> Wanted:
    beyond, by = filters["beyond"], order.get("by")
    return Wanted(
        filters["technique"] or "", filters["device"] or "", beyond if beyond in BEYOND else "all",
        filters["words"] or "", by if by in COLUMNS else "error", bool(order.get("down", True)),
    )  # fmt: skip


def _graph(wanted: Wanted, view: str, theme: str) -> dcc.Graph:
    cases, _ = known_cases()
    figure = accuracy_figure(cases, chosen(cases, wanted), view if view in VIEWS else VIEWS[0], theme)
    return dcc.Graph(id="scatter", figure=figure, responsive=True, style={"height": HEIGHT},
                     config={"displayModeBar": False})  # fmt: skip


def _shown(source: CaseSource, wanted: Wanted, rows: int) -> dict[tuple[str, str], Any]:
    """All but the picture, by what it is the value of, in the order of `_SHOWN`."""
    cases, _ = known_cases()
    numbers = chosen(cases, wanted)
    report = accuracy(cases[number] for number in numbers)
    # The table of techniques is also the way to another one, so it keeps those that are filtered out by name.
    every = accuracy(cases[number] for number in chosen(cases, replace(wanted, technique="")))
    order = sorted_cases(cases, numbers, wanted)
    left = len(order) - rows
    parts = (
        summary_cards(report),
        {"techniques": plain(technique_table(every, wanted)),
         "case-rows": plain(case_table(cases, order[:rows], wanted, report.band, source.finder()))},
        f"Show more: {left:,} of {len(order):,} are left", {} if left > 0 else {"display": "none"},
    )  # fmt: skip
    return dict(zip(_SHOWN, parts, strict=True))


_WHAT = """The model beside every recording that ships, kernels and host programs alike; click on one to see its
timelines. All of this is validation: no recording here has set a number of a device profile. Calibration is apart from
it, by the microbenchmarks and documents that """
_LEAD = (_WHAT, html.A("Device", href=PAGES["device"]), " names for each quantity.")


def _opening(source: CaseSource) -> dmc.MantineProvider:
    """The page at its address."""
    title = "How close are the predictions to the measured times?"
    try:
        cases, missing = known_cases()
    except GpusimError as error:
        return frame(NAME, title, _LEAD, [message_sheet("The recordings cannot be read", str(error))])
    if not cases:
        how = "No recording has a kept prediction; gpusim report --write makes them."
        return frame(NAME, title, _LEAD, [message_sheet("There is nothing to show", how)])
    wanted = wanted_of(asked_query())
    summary, tables, more, more_style = _shown(source, wanted, FIRST).values()
    behind = f"{counted(missing, 'recording')} without a prediction yet: gpusim report --write" if missing else ""
    body = [
        dcc.Store(id="order", data={"by": wanted.by, "down": wanted.down}),
        dcc.Store(id="rows", data=FIRST),
        dcc.Store(id="tables", data=tables),
        dcc.Store(id="go"),
        html.Div(summary, id="summary", className="cards"),
        _filters(cases, wanted, behind),
        html.Div([html.Div(id="scatter-box", className="half", style={"height": HEIGHT}),
                  html.Div(id="techniques", className="half")], className="halves"),
        html.H2("Cases", className="part"),
        html.Div(id="case-rows"),
        dmc.Button(more, id="more", size="compact-sm", variant="default", style=more_style, m=14),
    ]  # fmt: skip
    return frame(NAME, title, _LEAD, body)


def _filters(cases: Any, wanted: Wanted, behind: str) -> html.Div:
    techniques, devices = (sorted({getattr(case, name) for case in cases}) for name in ("technique", "device"))
    small = {"size": "xs", "clearable": True}
    controls = [
        dmc.Select(id="technique", data=techniques, value=wanted.technique or None, placeholder="all techniques",
                   searchable=True, w=200, **small, **{"aria-label": "Technique"}),
        dmc.Select(id="device", data=devices, value=wanted.device or None, placeholder="all devices", w=140,
                   **small, **{"aria-label": "Device"}),
        html.Span("off by more than", className="dim"),
        dmc.SegmentedControl(id="beyond", data=list(BEYOND), value=wanted.beyond, size="xs"),
        dmc.TextInput(id="words", value=wanted.words, placeholder="parameters, as stages=2", size="xs", w=210,
                      debounce=250, **{"aria-label": "Words of the parameters"}),
        html.Div(className="grow"),
        html.Span(behind, className="warned"),
        dmc.SegmentedControl(
            id="view", size="xs", value=VIEWS[0],
            data=[{"value": VIEWS[0], "label": "Predicted × measured"}, {"value": VIEWS[1], "label": "Error"}],
        ),
    ]  # fmt: skip
    return html.Div(controls, className="toolbar")
