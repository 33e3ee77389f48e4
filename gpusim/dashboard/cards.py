"""The verdict in one line of cards, and the badges that say what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

import dash_mantine_components as dmc
from dash import html

from gpusim.dashboard.case import OWN_POINT, Badge, Case, Numbers
from gpusim.dashboard.text import percent, signed_percent, time_text
from gpusim.dashboard.track import MICRO

__all__ = ["badge_row", "card_row", "message_panel"]

FAR_APART = 0.2
"""Spread of repeated measurements, relative to their median, from which on the card says from where to where."""
_TONES = {"good": "teal", "plain": "gray", "warn": "orange"}


def _us(seconds: float | None, digits: int = 4) -> str:
    return time_text(None if seconds is None else seconds * MICRO, digits)


def card(title: str, value: str, detail: str | html.Span = "", *, tone: str = "", why: str = "") -> html.Div:
    """One number with what it means."""
    body = [
        html.Div(title, className="card-title"),
        html.Div(value, className=f"card-value {tone}".strip()),
        html.Div(detail or "\u00a0", className="card-detail"),
    ]
    return html.Div(body, className="card", title=why or None)


def _verdict(case: Case) -> html.Span | str:
    """The signed error of the prediction, and whether it keeps the claimed band."""
    if case.error is None:
        return ""
    if case.band is None:
        return f"error {signed_percent(case.error)}"
    if case.gap:
        return html.Span(f"{signed_percent(case.error)}, known gap", className="bad strong", title=case.gap)
    inside = abs(case.error) <= case.band
    tone = "good" if inside else "bad"
    band = f"{100 * case.band:g}"
    text = f"{signed_percent(case.error)}, {'within' if inside else 'outside'} ±{band} %"
    return html.Span(text, className=f"{tone} strong")


def _measured_card(case: Case) -> html.Div:
    numbers = case.measured_numbers
    if numbers is None or numbers.total_s is None:
        others = len(case.points) - (case.point == OWN_POINT)
        detail = f"{others} recorded points above" if others > 0 else "no recording"
        return card("Measured", "–", detail, tone="dim",
                    why="No recording of this kernel with these parameters on this device.")  # fmt: skip
    why = "Median of the un-instrumented runs; those of host programs are of several machines."
    return card("Measured", _us(numbers.total_s), _spread(numbers), why=why)


def _spread(numbers: Numbers) -> str:
    if numbers.spread is None:
        return "median"
    if numbers.spread <= FAR_APART or numbers.range_s is None:
        return f"repeats spread {percent(numbers.spread)}"
    return f"runs {_us(numbers.range_s[0], 3)} – {_us(numbers.range_s[1], 3)}"


def _pair(theirs: str | None) -> str:
    return f"measured {theirs}" if theirs and theirs != "–" else ""


def _bottleneck_card(case: Case) -> html.Div:
    lever = f"helps: {case.lever}" if case.lever else ""
    long = len(case.bottleneck) > 18  # takes the line of the detail as well
    why = f"{case.bottleneck} (share of the peak or of the critical path). {lever}".strip()
    return card("Bottleneck", case.bottleneck or "–", "" if long else lever, tone="words long" if long else "words",
                why=why if case.bottleneck else "What sets the duration.")  # fmt: skip


def card_row(case: Case) -> list[html.Div]:
    """All cards of a case, from the answer to its reasons."""
    ours, theirs = case.predicted_numbers, case.measured_numbers or Numbers()
    hidden = _pair(percent(theirs.hidden_fraction)) or "of copy time"
    exposed = _pair(_us(theirs.exposed_s, 3)) or "nothing to hide under"
    period = _pair(_us(theirs.period_s, 3)) or "steady state"
    speedup = f"{ours.speedup:.2f}×" if ours.speedup else "–"
    return [
        card("Predicted", _us(ours.total_s), _verdict(case) or "not measured",
             why="Predicted duration; the error is predicted / measured − 1, beside the band claimed for it."),
        _measured_card(case),
        card("Hidden copy time", percent(ours.hidden_fraction), hidden,
             why="Part of the copy time that lies under computing: |copy ∩ compute| / |copy|."),
        card("Exposed copy", _us(ours.exposed_s, 3), exposed,
             why="Time per SM in which a copy is in flight and nothing computes."),
        card("Per tile", _us(ours.period_s, 3), period, why="Steady-state time between two tiles of a CTA."),
        card("Speed-up", speedup, "over one stage, serial" if ours.speedup else "no baseline",
             why="Predicted duration of the same work with a single stage, over this one."),
        _bottleneck_card(case),
        card("Occupancy", case.occupancy or "–", f"limit: {case.limiter}" if case.limiter else "", tone="words",
             why="Resident CTAs per SM, and what keeps another one out."),
    ]  # fmt: skip


def badge_row(badges: Sequence[Badge]) -> list[dmc.Tooltip]:
    """Badges with their explanation on hover."""
    return [
        dmc.Tooltip(
            dmc.Badge(badge.text, color=_TONES.get(badge.tone, "gray"), variant="light", size="sm", radius="sm",
                      tt="none", fw=500),
            label=badge.why or badge.text, multiline=True, w=280, withArrow=True,
        )
        for badge in badges
    ]  # fmt: skip


def message_panel(title: str, message: str) -> html.Div:
    """What stands in the place of the timelines when there is nothing to draw."""
    return html.Div(
        [
            html.Div(title, className="message-title"),
            html.Pre(message, className="message-text"),
            html.Div("Choose another scenario above, or correct the file and select it again.", className="dim"),
        ],
        className="message",
        role="alert",
    )
