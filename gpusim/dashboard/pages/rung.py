"""One rung of the ladder, filled: timeline with a time cursor, numbers beside what it stands against, what it fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from gpusim.dashboard.figure.figures import Drawing
from gpusim.dashboard.figure.text import percent
from gpusim.dashboard.page.case import Case
from gpusim.dashboard.page.gutter import gutter_rows
from gpusim.dashboard.pages.ladder import Rung
from gpusim.dashboard.pages.ladder_figure import draw_rung, shown_part
from gpusim.dashboard.pages.ladder_numbers import Change, filled, gain, lines_of, remaining

__all__ = ["rung_content"]

GUTTER_PX = 184
"""Width of the lane names, ``--gutter`` of the style sheet."""
NUMBERS_PX = 420
"""Width of the numbers beside a timeline, ``--numbers`` of the style sheet."""
NARROW_PX = 1100
"""Width of the page below which the numbers stand under the timeline."""
_MOST = 3
"""Kinds of idle time that are named."""


def rung_content(rung: Rung, now: Case, before: Case | None, width: int, theme: str) -> list[Any]:
    """Everything below the heading of a rung on a page that is ``width`` pixels wide."""
    beside = NUMBERS_PX if width >= NARROW_PX else 0
    drawing = draw_rung(now, rung, width - beside - GUTTER_PX, theme)
    return [
        html.Div([_player(rung, now), _timeline(now, drawing), _legend(drawing)], className="rung-timeline"),
        html.Div([*_verdict(now, before), _numbers(now, before)], className="rung-numbers"),
    ]


def _player(rung: Rung, now: Case) -> html.Div:
    buttons = [
        html.Button(sign, className="play", title=title, **{"data-move": move, "aria-label": title})
        for sign, move, title in (
            ("|◂", "first", "To the start"), ("◂", "back", "One step back"), ("▶", "play", "Play or pause"),
            ("▸", "next", "One step on"), ("▸|", "all", "Show everything"),
        )
    ]  # fmt: skip
    told = html.Span(shown_part(now, rung), className="told", **{"aria-live": "polite"})
    return html.Div([*buttons, told], className="player")


def _timeline(now: Case, drawing: Drawing) -> html.Div:
    graph = dcc.Graph(figure=drawing.figure, responsive=False, config={"displayModeBar": False, "scrollZoom": False})
    over = [html.Div(className="later"), html.Div(className="now")]
    return html.Div(
        [html.Div(gutter_rows(drawing, now.side_notes, now.warps), className="gutter"),
         html.Div([graph, *over], className="graph")],
        className="canvas", style={"height": f"{drawing.stack.height_px}px"},
    )  # fmt: skip


def _legend(drawing: Drawing) -> html.Div:
    """The colours that are seen; what lies behind a window has none."""
    drawn = {trace.get("name") for trace in drawing.figure["data"]}
    whole = drawing.home_us[1] <= drawing.window_us[1]
    chips = [
        html.Span([html.Span(className="swatch", style={"background": entry.colour}), entry.label],
                  className="chip fixed", title=entry.meaning)
        for entry in drawing.legend
        if entry.label in drawn and (whole or entry.category >= 0)
    ]  # fmt: skip
    return html.Div(chips, className="legend")


def _verdict(now: Case, before: Case | None) -> list[Any]:
    """What it gains, which idle time it fills and what is left."""
    said: list[Any] = []
    if before is not None:
        predicted, measured = gain(now, before)
        faster = f"{predicted:.2f}×" if predicted else "–"
        seen = f", measured {measured:.2f}×" if measured else ""
        said.append(_say("Gain", [html.B(faster, className="" if predicted and predicted > 1 else "bad"), seen]))
        less = filled(now, before)
        said.append(_say("Fills", _falls(less) if less else "no idle time of this case: it does not pay here"))
    left = ", ".join(f"{change.name} {percent(change.now, 0)}" for change in remaining(now)[:_MOST])
    said.append(_say("Remains", left or "next to nothing"))
    if now.bottleneck:
        said.append(_say("Bottleneck", [html.B(now.bottleneck), f": {now.lever}" if now.lever else ""]))
    return said


def _falls(changes: Sequence[Change]) -> str:
    return ", ".join(f"{c.name} {percent(c.before, 0)} → {percent(c.now, 0)}" for c in changes[:_MOST])


def _say(what: str, words: Any) -> html.Div:
    return html.Div([html.Span(what, className="say-what"), html.Span(words)], className="say")


def _numbers(now: Case, before: Case | None) -> html.Table:
    both = before is not None
    head = ("", "without", "with") if both else ("", "here")
    rows = [
        html.Tr([html.Th(line.name, scope="row"), *([html.Td(line.before or "–")] if both else []),
                 html.Td(line.now or "–")])
        for line in lines_of(now, before)
    ]  # fmt: skip
    return html.Table([html.Thead(html.Tr([html.Th(word) for word in head])), html.Tbody(rows)], className="ranking")
