"""The verdict in one line of cards, and the badges that say what it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence

import dash_mantine_components as dmc
from dash import html

from gpusim.dashboard.figure.recorded import DISTORTED, overhead_of, run_name, tiles_kept
from gpusim.dashboard.figure.text import even_text, percent, signed_percent, signed_points
from gpusim.dashboard.figure.track import MICRO
from gpusim.dashboard.page.case import OWN_POINT, UNCHANGED, Badge, Case, Numbers

__all__ = ["badge_row", "banners", "card_row", "message_panel"]

_WAY_OUT = "Choose another scenario above, or correct the file: it is shown again as soon as it is saved."
_WAY_BACK = "Take the change back (Undo or Reset), or choose another scenario above."
LONG_WORDS = 24
"""Letters from which on words take two lines where cards are narrow, and what is below them one."""
FAR_APART = 0.2
"""Spread of repeated measurements, relative to their median, from which on the card says from where to where."""
TIMES = 9.0
"""Relative difference from which on a change is told as a multiple."""
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|[nµm]?s\b)")
_TONES = {"good": "teal", "plain": "gray", "warn": "orange"}


def _us(seconds: float | None, digits: int = 4) -> str:
    return even_text(None if seconds is None else seconds * MICRO, digits)


def _whole(text: str) -> str:
    """``text`` whose numbers keep their units where a narrow card breaks it into lines."""
    return _BEFORE_UNIT.sub("\u00a0", text)


def card(
    title: str, value: str, detail: str | html.Span = "", *, tone: str = "", why: str = "", room: str = ""
) -> html.Div:
    """One number with what it means. ``room``: "widest", "wide", "narrow" or "long" for one that needs more or less."""
    body = [
        html.Div(title, className="card-title"),
        html.Div(value, className=f"card-value {tone}".strip()),
        html.Div((_whole(detail) if isinstance(detail, str) else detail) or "\u00a0", className="card-detail"),
    ]
    return html.Div(body, className=f"card {room}".strip(), title=why or None)


def _verdict(case: Case) -> html.Span | str:
    """The signed error of the prediction, and whether it keeps the claimed band."""
    if case.error is None:
        return ""
    if case.against == UNCHANGED:
        # Of many times as much a percentage says nothing.
        told = f"{1 + case.error:,.0f} times" if case.error >= TIMES else signed_percent(case.error)
        return html.Span(f"{told} against unchanged", className="strong")
    if case.band is None:
        return f"error {signed_percent(case.error)}"
    if case.unlike:
        return html.Span([_whole(signed_percent(case.error)), ", not the same work"], className="bad strong",
                         title=case.unlike)  # fmt: skip
    if case.gap:
        return html.Span(f"{signed_percent(case.error)}, known gap", className="bad strong", title=case.gap)
    inside = abs(case.error) <= case.band
    tone = "good" if inside else "bad"
    band = f"{100 * case.band:g}"
    text = f"{signed_percent(case.error)}, {'within' if inside else 'outside'} ±{band} %"
    return html.Span(_whole(text), className=f"{tone} strong")


def _predicted_card(case: Case) -> html.Div:
    title = "What if" if case.altered else "Predicted"
    why = "Predicted duration; the error is predicted / measured − 1, beside the band claimed for it."
    if case.against == UNCHANGED:
        why = f"Predicted duration with the changes, and without them.\n{case.unmeasured}"
    if case.other_numbers is None:
        others = len(case.points) - (case.point == OWN_POINT)
        above = f"not measured; {others} recorded points above" if others > 0 else ""
        why = f"{why}\n{case.unmeasured or 'not measured'}"
        return card(title, _us(case.predicted_numbers.total_s), above or case.unmeasured or "not measured",
                    room="wide", why=why)  # fmt: skip
    return card(title, _us(case.predicted_numbers.total_s), _verdict(case), room="wide", why=why)


def _measured_card(numbers: Numbers, imported: str) -> html.Div:
    if imported:
        why = f"The run time that {imported} tells, or else the time from its first to its last event."
        return card("Measured", _us(numbers.total_s), "imported", why=why)
    why = "Median of the un-instrumented runs; those of host programs are of several machines."
    return card("Measured", _us(numbers.total_s), _spread(numbers), why=why)


def _spread(numbers: Numbers) -> str:
    if numbers.spread is None:
        return "median"
    if numbers.spread <= FAR_APART or numbers.range_s is None:
        return f"repeats spread {percent(numbers.spread)}"
    return f"runs {_us(numbers.range_s[0], 3)} – {_us(numbers.range_s[1], 3)}"


def _unchanged_card(numbers: Numbers) -> html.Div:
    return card("Unchanged", _us(numbers.total_s), "predicted", why="Predicted duration without the changes.")


def _pair(theirs: str, case: Case) -> str:
    return "" if theirs == "–" else f"{case.against} {theirs}"


def _hidden_card(case: Case) -> html.Div:
    theirs = case.other_numbers.hidden_fraction if case.other_numbers else None
    detail: str | html.Span = _pair(percent(theirs), case)
    if not detail and case.predicted_numbers.hidden_fraction == 0.0:
        detail = "nothing computes beside a copy"
    if case.hidden_error is not None and case.hidden_band is not None and not case.unlike:
        inside = abs(case.hidden_error) <= case.hidden_band
        held = "within" if inside else "known gap, outside" if case.gap else "outside"
        apart = f"{signed_points(case.hidden_error)}, {held} ±{100 * case.hidden_band:g}"
        tone = "good" if inside else "bad"
        # What the difference is of stands right above it.
        stamped = case.stamped_hidden
        lines = [f"{detail}:"]
        if stamped is not None:
            of = f"{' and '.join(case.watched)} " if case.watched else ""
            lines = [f"{of}with stamps {percent(stamped)},", f"{detail}:"]
        detail = html.Span(
            [
                # The blank stands where a narrow row of cards has no room for lines of their own.
                *(part for line in lines for part in (_whole(line), html.Br(), " ")),
                html.Span(apart, className=f"{tone} strong", title=case.gap or None),
            ]
        )
    why = (
        "Part of the copy time that lies under computing: |copy ∩ compute| / |copy|. "
        "The difference is predicted − measured, beside the one that is claimed at most. The measured kernel took "
        "time stamps, which lengthen its computing: it is compared with what is predicted with stamps, too."
    )
    if case.watched:
        why += f" Both are of copies into {' and '.join(case.watched)} only, as others are not recorded."
    return card("Hidden copy time", percent(case.predicted_numbers.hidden_fraction), detail, why=why, room="wide")


def _exposed_card(case: Case) -> html.Div:
    theirs = case.other_numbers or Numbers()
    kept = tiles_kept(case.other.timeline) if case.other else None
    part = "measured for {:,} of {:,} tiles only".format(*kept) if kept else ""
    return card("Exposed copy", _us(case.predicted_numbers.exposed_s, 3), part or _pair(_us(theirs.exposed_s, 3), case),
                why="Time per SM in which a copy is in flight and nothing computes.")  # fmt: skip


def _speedup_card(speedup: float | None, baseline: str) -> html.Div:
    return card("Speed-up", f"{speedup:.2f}×" if speedup else "…", f"over {baseline}", room="narrow",
                why=f"Predicted duration of the same work with {baseline}, over this one.")  # fmt: skip


def _occupancy_card(case: Case) -> html.Div:
    return card("Occupancy", case.occupancy, f"limit: {case.limiter}" if case.limiter else "", tone="words",
                why="CTAs on an SM with their part of its warps, and what keeps another one out.")  # fmt: skip


def _bottleneck_card(case: Case) -> html.Div:
    lever = f"helps: {case.lever}" if case.lever else ""
    why = f"{case.bottleneck} (share of its peak, of the time or of the critical path). {lever}".strip()
    room = "widest long" if len(case.bottleneck) > LONG_WORDS else "widest"
    return card("Bottleneck", case.bottleneck, lever, tone="words", why=why, room=room)


def card_row(case: Case) -> list[html.Div]:
    """The cards that apply to a case, from the answer to its reasons."""
    ours, theirs = case.predicted_numbers, case.other_numbers or Numbers()
    cards = [_predicted_card(case)]
    if case.other_numbers is not None:
        unchanged = case.against == UNCHANGED
        other = _unchanged_card(theirs) if unchanged else _measured_card(theirs, case.imported)
        cards.append(other)
    if ours.hidden_fraction is not None:  # there are copies
        cards += [_hidden_card(case), _exposed_card(case)]
    if ours.period_s is not None:
        cards.append(card("Per tile", _us(ours.period_s, 3), _pair(_us(theirs.period_s, 3), case), room="narrow",
                          why="Steady-state time between two tiles of a CTA."))  # fmt: skip
    if case.baseline:
        cards.append(_speedup_card(ours.speedup, case.baseline))
    if case.bottleneck:
        cards.append(_bottleneck_card(case))
    if case.occupancy:
        cards.append(_occupancy_card(case))
    return cards


def banners(case: Case) -> list[html.Div]:
    """Warnings above the lanes: of a trace of other work, and of a run that took much longer than the plain ones."""
    told = [_sentence(case.unlike) + " The differences say nothing of the prediction."] if case.unlike else []
    overhead = overhead_of(case.other.timeline) if case.other else None
    if overhead is not None and overhead > DISTORTED:
        line = case.other.timeline
        took, plain = (_us(seconds) for seconds in (line.meta["instrumented_total_s"], line.total_s))
        told.append(
            f"The {run_name(line)} took {took}, {percent(overhead, 0)} longer than the plain run of {plain}: "
            "the measured lanes show the order of events, not how long they take."
        )
    return [html.Div(text, className="banner", role="note") for text in told]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


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


def message_panel(title: str, message: str, changed: bool = False) -> html.Div:
    """What stands in the place of the timelines when there is nothing to draw; ``changed``: by a what-if."""
    return html.Div(
        [
            html.Div(title, className="message-title"),
            html.Pre(message, className="message-text"),
            html.Div(_WAY_BACK if changed else _WAY_OUT, className="dim"),
        ],
        className="message",
        role="alert",
    )
