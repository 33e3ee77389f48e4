"""One line under the cards: what to change, what else was tried, and the place under the roofline."""

from __future__ import annotations

from typing import Any

from dash import html

from gpusim.dashboard.text import percent, signed_percent, time_text
from gpusim.dashboard.track import MICRO
from gpusim.scenario.advice import Advice, Lever
from gpusim.timeline.roofline import Roofline

__all__ = ["advice_line", "advice_missing", "advice_pending"]

SHOWN = 3
_TITLE = html.Span("Advice", className="advice-title")


def advice_pending() -> list[Any]:
    """What stands there until the variants have been predicted."""
    return [_TITLE, html.Span("predicting the same work done otherwise …", className="dim")]


def advice_missing(why: str) -> list[Any]:
    """What stands there when a scenario cannot be varied."""
    return [_TITLE, html.Span("none", className="dim", title=why)]


def advice_line(advice: Advice) -> list[Any]:
    """The verdict, the levers that gain most with what they do to the time, and the roofline."""
    best = advice.best
    if best is None:
        verdict = html.Span("leave it", className="strong")
        held = f"held back by {advice.held_by}" if advice.held_by else "no lever gains more than 2 %"
        parts = [_TITLE, verdict, html.Span(held, className="advice-held")]
    else:
        verdict = html.Span(best.brief, className="strong", title=f"{best.change}: {best.arguments}")
        gained = f"{signed_percent(-best.gain)} time, {time_text(best.total_s * MICRO)}"
        parts = [_TITLE, verdict, html.Span(gained, className="good strong")]
    parts += [_tried(lever) for lever in advice.levers[:SHOWN] if lever is not best]
    parts += [html.Span(text, className="advice-lever") for text in advice.enough]
    words = html.Div(parts, className="advice-words", title=advice.verdict)
    return [words, *([_place(advice.roofline)] if advice.roofline else [])]


def _tried(lever: Lever) -> html.Span:
    change = [f"{lever.brief} ", html.B(signed_percent(-lever.gain), className="good" if lever.gain > 0 else "")]
    return html.Span(change, className="advice-lever", title=f"{lever.change}: {lever.arguments}")


def _place(roofline: Roofline) -> html.Span:
    shares = f"{percent(roofline.bandwidth_share, 0)} of bandwidth, {percent(roofline.flop_share, 0)} of FP32"
    why = (
        f"{roofline.intensity:.1f} FLOP per byte of memory traffic; the roofs meet at {roofline.ridge:.1f}, so "
        f"{roofline.roof} is the roof, and {percent(roofline.share)} of it is reached."
    )
    return html.Span([html.Span(roofline.regime, className="strong"), f" · {shares}"], className="advice-roof",
                     title=why)  # fmt: skip
