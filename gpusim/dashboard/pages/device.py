"""The device page: what a profile states, the roofline of its recordings, and the occupancy calculator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, dcc, html
from dash.exceptions import PreventUpdate
from flask import Flask

from gpusim.dashboard.figure.text import counted
from gpusim.dashboard.page.case import CaseSource
from gpusim.dashboard.pages.accuracy import pointed
from gpusim.dashboard.pages.accuracy_rows import known_cases
from gpusim.dashboard.pages.device_occupancy import HEIGHT as STEPS_HEIGHT
from gpusim.dashboard.pages.device_occupancy import KIB, Cta, answer_of, bounds_of, steps_figure
from gpusim.dashboard.pages.device_roofline import HEIGHT, VIEWS, peaks_of, roofline_figure, spots_of
from gpusim.dashboard.pages.device_tables import KIND_MEANING, found, kind_counts, quantity_table
from gpusim.dashboard.pages.frame import asked_query, frame, new_page
from gpusim.dashboard.pages.plain import plain
from gpusim.errors import GpusimError, nearest
from gpusim.hardware.profile import KINDS, load_profile, profile_names
from gpusim.scenario.yaml_source import shown

__all__ = ["register_device"]

NAME = "device"
FIRST = "h200_sxm"
"""The device to begin with: the one with most recordings."""
_PLAIN = {"displayModeBar": False}


def register_device(server: Flask, source: CaseSource) -> Dash:
    """Serve the page; ``source`` knows which scenario shows a recording."""
    app = new_page(server, NAME)
    app.layout = _opening

    @app.callback(
        Output("about", "children"), Output("tables", "data"), Output("shown", "children"),
        Input("device", "value"), Input("words", "value"), Input("kind", "value"), prevent_initial_call=True,
    )  # fmt: skip
    def on_quantities(device: str, words: str, kind: str) -> tuple:
        return _quantities(device, words, kind)

    @app.callback(
        Output("roofline-box", "children"), Output("roofline-note", "children"),
        Input("device", "value"), Input("view", "value"), Input("theme", "data"),
    )  # fmt: skip
    def on_roofline(device: str, view: str, theme: str | None) -> tuple:
        return _roofline(device, view, theme or "light")

    @app.callback(Output("go", "data"), Input("roofline", "clickData"), prevent_initial_call=True)
    def on_point(click: dict | None) -> str:
        return pointed(source, click)

    @app.callback(
        Output("occupancy", "children"),
        Input("device", "value"), Input("threads", "value"), Input("registers", "value"), Input("shared", "value"),
        Input("theme", "data"),
    )  # fmt: skip
    def on_cta(device: str, threads: Any, registers: Any, shared: Any, theme: str | None) -> list:
        return _occupancy(device, threads, registers, shared, theme or "light")

    app.clientside_callback(ClientsideFunction("gpusimPages", "go"), Input("go", "data"))
    app.clientside_callback(ClientsideFunction("gpusimPages", "fill"), Input("tables", "data"))
    app.clientside_callback(
        ClientsideFunction("gpusimPages", "rememberDevice"), Input("device", "value"), prevent_initial_call=True
    )
    return app


def asked_device(query: str) -> str:
    """The device that the page's address names, if there is such a one."""
    name = parse_qs(query[:500]).get("device", [FIRST])[0]
    return name if name in profile_names() else FIRST


def _unknown(query: str, names: Sequence[str]) -> str:
    """That there is no device of the name in the page's address, if there is none."""
    name = parse_qs(query[:500]).get("device", [FIRST])[0]
    if name in names:
        return ""
    close = nearest(name, names)
    # It stands there also when another device has been chosen.
    return f"The address names a device that there is not: {shown(name)}." + (
        f" Did you mean {close}?" if close else ""
    )


def _quantities(device: str, words: str, kind: str) -> tuple[Any, Any, str]:
    """What is said of the device, the quantities that are looked for, and how many they are."""
    if device not in profile_names():
        raise PreventUpdate
    profile = load_profile(device)
    rows = found(profile, words or "", kind if kind in KINDS else "")
    counts = [
        html.Span([html.B(f"{count:,} "), kind], className=f"kind-{kind}", title=KIND_MEANING[kind])
        for kind, count in kind_counts(profile).items()
    ]
    about = [html.Div(profile.title, className="about-title"), html.P(profile.description, className="lead"),
             html.Div(counts, className="kinds")]  # fmt: skip
    of = counted(len(profile.quantities), "quantity")
    count = of if len(rows) == len(profile.quantities) else f"{len(rows):,} of {of}"
    return about, {"quantities": plain(quantity_table(rows))}, count


def _roofline(device: str, view: str, theme: str) -> tuple[Any, Any]:
    """The graph and what has to be said of it, or why there is none."""
    if device not in profile_names():
        raise PreventUpdate
    try:
        cases, _ = known_cases()
        recorded = load_profile(device).recordings
        peaks = peaks_of(device)
    except GpusimError as error:
        return html.Div(str(error), className="wrong"), ""
    spots, left_out = spots_of(cases, recorded)
    figure = roofline_figure(peaks, spots, view if view in VIEWS else VIEWS[0], theme)
    graph = dcc.Graph(id="roofline", figure=figure, responsive=True, style={"height": HEIGHT}, config=_PLAIN)
    if not spots:
        return graph, f"Nothing is recorded on {device}: these are the roofs of its predictions."
    note = f"{counted(len(spots), 'recorded kernel')}, measured time, work as the model counts it; click on one to "
    note += "see its timelines. Above the roof of memory L2 answers."
    return graph, note + (f" {counted(left_out, 'kernel')} that only cop{'ies is' if left_out == 1 else 'y are'} left "
                          "out." if left_out else "")  # fmt: skip


def _occupancy(device: str, threads: Any, registers: Any, shared_kib: Any, theme: str) -> list[Any]:
    """The answer for what is typed; an empty field waits for its number."""
    if device not in profile_names():
        raise PreventUpdate
    values = (threads, registers, shared_kib)
    if not all(isinstance(value, int | float) for value in values) or threads < 1:
        return [html.Div("Type a number into each field.", className="dim")]
    profile, cta = load_profile(device), Cta(int(threads), int(registers), round(shared_kib * KIB))
    graph = dcc.Graph(id="steps", figure=steps_figure(profile, cta, theme), responsive=True, config=_PLAIN,
                      style={"height": STEPS_HEIGHT})  # fmt: skip
    return [*answer_of(profile, cta), graph]


_LEAD = (
    "What every prediction for a device is made of: each quantity with its value, where it comes from and how far the "
    "measurements of it were apart. A what-if may change any of them."
)  # fmt: skip


def _opening() -> dmc.MantineProvider:
    """The page at its address."""
    device, unknown = asked_device(asked_query()), _unknown(asked_query(), profile_names())
    about, tables, count = _quantities(device, "", "")
    names = [{"value": name, "label": name} for name in profile_names()]
    picker = [
        dmc.Select(id="device", data=names, value=device, allowDeselect=False, size="xs", w=160,
                   **{"aria-label": "Device"}),
        html.Div(about, id="about", className="about"),
    ]  # fmt: skip
    roofline = [
        html.Div([html.H2("Roofline", className="part"), html.Div(className="grow"),
                  dmc.SegmentedControl(id="view", data=list(VIEWS), value=VIEWS[0], size="xs")],
                 className="part-row"),
        html.Div(id="roofline-box", style={"minHeight": HEIGHT}),
        html.P(id="roofline-note", className="lead"),
    ]  # fmt: skip
    quantities = [
        html.H2("Quantities", className="part"),
        dmc.TextInput(id="words", placeholder="search names and sources", size="xs", w=230, debounce=200,
                      **{"aria-label": "Search quantities"}),
        dmc.SegmentedControl(id="kind", data=["all", *KINDS], value="all", size="xs"),
        html.Span(count, id="shown", className="dim"),
    ]  # fmt: skip
    body = [
        dcc.Store(id="tables", data=tables),
        dcc.Store(id="go"),
        html.Div(unknown, className="banner", role="alert") if unknown else None,
        html.Div(picker, className="picked"),
        html.Div([html.Div(roofline, className="half"), html.Div(_calculator(device), className="half calculator")],
                 className="halves"),
        html.Div(quantities, className="part-row"),
        html.Div(id="quantities"),
    ]  # fmt: skip
    return frame(NAME, "What is the device made of?", _LEAD, body)


def _calculator(device: str) -> list[Any]:
    bounds, cta = bounds_of(load_profile(device)), Cta()
    number = partial(dmc.NumberInput, size="xs", w=150, allowDecimal=False, allowNegative=False, clampBehavior="none")
    fields = [
        number(id="threads", label="threads per CTA", value=cta.threads, min=1, max=bounds.threads, step=32),
        number(id="registers", label="registers per thread", value=cta.registers, min=0, max=bounds.registers, step=8),
        number(id="shared", label="shared memory per CTA", value=cta.shared_bytes // KIB, min=0, step=8,
               suffix=" KiB"),
    ]  # fmt: skip
    return [
        html.H2("Occupancy", className="part"),
        html.Div(fields, className="calculator-fields"),
        html.Div(id="occupancy"),
        html.P("By the rules of cuda_occupancy.h, with what the driver reserves for each CTA.", className="lead"),
    ]
