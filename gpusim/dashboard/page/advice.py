"""One line under the cards: what to change, what else was tried, and the place under the roofline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from gpusim.dashboard.figure.text import percent, signed_percent, time_text
from gpusim.dashboard.figure.track import MICRO
from gpusim.scenario.levers.advice import WORTH_IT, Advice, Lever
from gpusim.timeline.roofline import Roofline

__all__ = ["advice_line", "advice_missing", "advice_pending"]

SHOWN = 3
NOTICED = 0.005
"""Part of the time below which a change has no effect."""
_TITLE = html.Span("Advice", className="advice-title")


def advice_pending() -> list[Any]:
    """What stands there until the variants have been predicted."""
    return [_TITLE, html.Span("predicting the same work done otherwise …", className="dim")]


def advice_missing(why: str) -> list[Any]:
    """What stands there when a scenario cannot be varied."""
    return [_TITLE, html.Span("none", className="dim", title=why)]


def advice_line(advice: Advice) -> list[Any]:
    """The verdict and what is enough, what else was tried in the order of its gain, and the roofline."""
    best = advice.best
    if best is None:
        parts = [_TITLE, html.Span("leave it", className="strong")]
    else:
        verdict = html.Span(best.brief, className="strong", title=f"{best.change}: {best.arguments}")
        gained = f"{signed_percent(-best.gain)} time, {time_text(best.total_s * MICRO)}"
        parts = [_TITLE, verdict, html.Span(gained, className="good strong")]
    parts += [html.Span(text, className="strong") for text in advice.enough]
    if best is None:
        nothing = f"no lever gains more than {percent(WORTH_IT, 0)}"
        held = f"held back by {advice.held_by}" if advice.held_by else nothing
        parts.append(html.Span(held, className="advice-held"))
    others = [lever for lever in advice.levers if lever is not best]
    parts += [_tried(lever) for lever in [lever for lever in others if lever.gain >= NOTICED][:SHOWN]]
    parts += _rest(others)
    words = html.Div(parts, className="advice-words", title=advice.verdict)
    return [words, *([_place(advice.roofline)] if advice.roofline else [])]


def _tried(lever: Lever) -> html.Span:
    gain = html.B(signed_percent(-lever.gain), className="good" if lever.gain > WORTH_IT else "")
    return html.Span([f"{lever.brief} ", gain], className="advice-lever", title=f"{lever.change}: {lever.arguments}")


def _rest(levers: Sequence[Lever]) -> list[html.Span]:
    """Changes that nobody should make: how many have no effect or cost time, and on hover which."""
    groups = {
        "no effect": [lever for lever in levers if abs(lever.gain) < NOTICED],
        "slower": [lever for lever in levers if lever.gain <= -NOTICED],
    }
    counts = ", ".join(f"{len(group)} {effect}" for effect, group in groups.items() if group)
    every = "\n".join(f"{one.brief} {signed_percent(-one.gain)}" for group in groups.values() for one in group)
    return [html.Span(f"others: {counts}", className="advice-rest", title=every)] if counts else []


def _place(roofline: Roofline) -> html.Span:
    arithmetic = f"{percent(roofline.flop_share, 0)} of {roofline.arithmetic}"
    shares = f"{percent(roofline.bandwidth_share, 0)} of bandwidth, {arithmetic}"
    why = (
        f"{roofline.intensity:.1f} FLOP per byte of memory traffic; the roofs meet at {roofline.ridge:.1f}. "
        f"The nearer roof is {roofline.roof}: {percent(roofline.share)} of it is reached."
    )
    return html.Span([html.Span(roofline.regime, className="strong"), f" · {shares}"], className="advice-roof",
                     title=why)  # fmt: skip
