"""The learn page: the ladder of techniques, each rung with its timeline, and what helps against which bottleneck."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import dash_mantine_components as dmc
from dash import MATCH, ClientsideFunction, Dash, Input, Output, dcc, html
from dash.exceptions import PreventUpdate
from flask import Flask

from gpusim.dashboard.page.address import query_of
from gpusim.dashboard.page.case import Asked, Case, CaseError, CaseSource
from gpusim.dashboard.page.layout import PAGES
from gpusim.dashboard.pages.frame import frame, new_page
from gpusim.dashboard.pages.ladder import REMEDIES, RUNGS, Remedy, Rung
from gpusim.dashboard.pages.rung import rung_content

__all__ = ["register_learn"]

NAME = "learn"
RUNG = "rung"
"""Type of the ids of what is filled in later; ``n`` is the place on the ladder."""


class KeptCases:
    """Cases of the ladder, kept for as long as their scenarios stay as they are: a redrawing predicts nothing."""

    def __init__(self, source: CaseSource) -> None:
        self._source = source
        self._kept: dict[Asked, tuple[str, Case]] = {}
        self._busy = threading.Lock()

    def case(self, asked: Asked) -> Case:
        """As the source has it. Raises CaseError."""
        stamp = self._source.stamp(asked.name)
        with self._busy:
            known = self._kept.get(asked)
            if known is None or known[0] != stamp:
                known = self._kept[asked] = (stamp, self._source.case(asked))
            return known[1]


def register_learn(server: Flask, source: CaseSource) -> Dash:
    """Serve the page with the scenarios of ``source``; each rung is predicted when its turn to be shown comes."""
    app = new_page(server, NAME)
    app.layout = partial(_opening, source)
    cases = KeptCases(source)

    @app.callback(
        Output({"type": RUNG, "n": MATCH}, "children"),
        Input({"type": "begin", "n": MATCH}, "data"), Input("room", "data"), Input("theme", "data"),
    )  # fmt: skip
    def on_room(place: int, width: Any, theme: str | None) -> list[Any]:
        if not isinstance(width, int | float) or not 0 <= place < len(RUNGS):
            raise PreventUpdate
        return filled_rung(cases, RUNGS[place], int(min(max(width, 300), 4000)), theme or "light")

    app.clientside_callback(ClientsideFunction("gpusimPages", "room"), Output("room", "data"), Input("ladder", "id"))
    return app


def filled_rung(cases: KeptCases, rung: Rung, width: int, theme: str) -> list[Any]:
    """A rung with its timeline and numbers, or why they are not there."""
    try:
        now = cases.case(rung.asked)
        before = cases.case(rung.against) if rung.against is not None else None
    except CaseError as error:
        text = f"{error} The ladder is made of the scenarios that come with gpusim."
        return [html.Div(text, className="dim rung-missing")]
    return rung_content(rung, now, before, width, theme)


_LEAD = (
    "Each rung is one way to fill time in which something stands still. Its timeline is predicted as the page opens, "
    "above a measured one where there is a recording; its numbers compare it with the same work without it."
)  # fmt: skip


def _opening(source: CaseSource) -> dmc.MantineProvider:
    """The page with empty rungs, which are filled from above as they are predicted."""
    known = {entry.name for entry in source.entries()}
    body = [
        dcc.Store(id="room"),
        html.Ol([_rung(place, rung) for place, rung in enumerate(RUNGS)], id="ladder", className="ladder"),
        html.H2("What helps against what", className="part", id="remedies"),
        _remedies(known),
    ]
    return frame(NAME, "How is waiting time filled, one technique after the other?", _LEAD, body)


def _rung(place: int, rung: Rung) -> html.Li:
    head = [
        html.Span(f"Level {rung.level}", className="level"),
        html.H2(rung.title, className="rung-title"),
        html.A("open in Timelines", href=address(rung.asked), **{"aria-label": f"Open {rung.title} in Timelines"}),
    ]
    parts = [
        html.Div(head, className="rung-head"),
        html.P(rung.idea, className="lead"),
        html.P([html.B("Changed: "), rung.changed], className="lead") if rung.changed else None,
        dcc.Store(id={"type": "begin", "n": place}, data=place),
        html.Div(html.Div("predicting …", className="dim rung-missing"), id={"type": RUNG, "n": place},
                 className="rung-body"),
    ]  # fmt: skip
    return html.Li([part for part in parts if part is not None], className="rung")


def address(asked: Asked) -> str:
    """Where the timelines of a rung are."""
    return PAGES["timelines"] + query_of(asked.name, asked.changes)


def _remedies(known: set[str]) -> html.Table:
    head = html.Thead(html.Tr([html.Th(word, scope="col") for word in ("bottleneck", "remedy", "shown by")]))
    return html.Table([head, html.Tbody([_remedy(one, known) for one in REMEDIES])], className="ranking remedies")


def _remedy(one: Remedy, known: set[str]) -> html.Tr:
    links: list[Any] = []
    for name in one.scenarios:
        shown = html.A(name, href=PAGES["timelines"] + query_of(name)) if name in known else html.Span(name)
        links += [", ", shown] if links else [shown]
    return html.Tr([html.Th(one.bottleneck, scope="row"), html.Td(one.remedy), html.Td(links)])
