"""What the page shows of a case: everything above the timelines, and one drawing with all around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dash import html

from gpusim.dashboard.figure.align import alignment_shift
from gpusim.dashboard.figure.figures import Drawing, timeline_figure
from gpusim.dashboard.figure.view import View
from gpusim.dashboard.page.address import asked_of, view_of
from gpusim.dashboard.page.advice import advice_line, advice_missing, advice_pending
from gpusim.dashboard.page.altered import NOTHING
from gpusim.dashboard.page.cards import badge_row, banners, card_row, message_panel
from gpusim.dashboard.page.case import MEASURED, Asked, Case, CaseError, CaseSource
from gpusim.dashboard.page.details import details_strip
from gpusim.dashboard.page.editor import shown_text
from gpusim.dashboard.page.form import Form
from gpusim.dashboard.page.gutter import gutter_rows
from gpusim.dashboard.page.importing import imported_mark
from gpusim.dashboard.page.panel import change_chips, field_inputs, quantity_options
from gpusim.dashboard.page.sweep_panel import sweep_figure
from gpusim.dashboard.page.sweep_tables import sweep_tables
from gpusim.dashboard.page.sweeps import Sweep

__all__ = [
    "DRAWN", "draw", "drawing_of", "first_name", "show_advice", "show_cards", "show_case", "show_chips", "show_drawn",
    "show_form", "show_sweep",
]  # fmt: skip


DRAWN = {
    "figure": ("drawn", "data"), "gutter": ("gutter", "children"), "height": ("canvas", "style"),
    "legend": ("legend", "children"), "count": ("count", "children"), "details": ("details", "children"),
    "details_style": ("details", "style"), "notice": ("notice", "children"), "search_error": ("search", "error"),
}  # fmt: skip
"""Where what `draw` gives is shown: id and property."""
_FIRST = "stages"
"""The shipped scenario that shows the main question; taken where it is there."""
_WAIT = "wait: "
"""What the labels of waits begin with."""


def first_name(source: CaseSource) -> str:
    """The scenario to start with: the one about which most is known, "" where there is none."""
    best = max(
        source.entries(), key=lambda entry: (not entry.error, entry.recorded, entry.name == _FIRST), default=None
    )
    return best.name if best else ""


def show_case(source: CaseSource, asked: Asked, *, quick: bool = False) -> dict[str, Any]:
    """Everything above the timelines for a scenario, or the message that stands in its place.

    ``quick`` as in `CaseSource.case`; `show_cards` then tells the rest.
    """
    shown = {
        "question": "", "facts": "", "badges": [], "cards": [], "message": None, "work": {"display": "none"},
        "points": [], "point": "", "point_box": {"display": "none"}, "case": None, "advice": advice_pending(),
        "against": MEASURED, "against_box": {"display": "none"}, "imported": [],
    }  # fmt: skip
    try:
        case = source.case(asked, quick=quick)
    except CaseError as error:
        return shown | {
            "message": message_panel(error.title, str(error), asked.altered),
            "question": asked.name or "No scenario",
        }
    points = [{"value": p.key, "label": p.label} for p in case.points]
    return shown | {
        "question": case.question,
        "facts": _facts(case),
        "badges": badge_row(case.badges),
        "cards": card_row(case),
        "message": banners(case),
        # What compares two sides is left out where there is one.
        "work": {} if case.other else {"--sides": "none"},
        "points": points,
        "point": case.point,
        "point_box": {} if len(points) > 1 else {"display": "none"},
        "against": case.against,
        # There is a choice where a changed scenario was recorded, too.
        "against_box": {} if case.altered and (case.recorded or case.imported) else {"display": "none"},
        "imported": imported_mark(case),
        "case": {
            "name": asked.name, "point": case.point, "changes": list(case.changes), "against": case.against,
            "key": replace(asked, point=case.point, against=case.against).key, "other": bool(case.other),
            "imported": asked.imported, "text": asked.text,
        },
    }  # fmt: skip


def _facts(case: Case) -> html.Span:
    """In one line, which is cut where there is no room; hovering shows all of it."""
    shown: list[Any] = []
    for place, fact in enumerate(case.facts):
        shown += [html.Span(" · ", className="sep")] * bool(place) + [html.Span(fact)]
    shown += [html.Span(f" {note}", className="note") for note in case.notes]
    return html.Span(shown, title=" · ".join((*case.facts, *case.notes)))


def show_drawn(source: CaseSource, held: dict[str, Any] | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """What is drawn of the case that is ``held`` for the controls' ``values``; nothing while their room is unknown."""
    if not held or not values.get("viewport"):
        return {}
    try:
        return draw(source.case(asked_of(held), quick=True), held["key"], view_of(held["key"], values))
    except CaseError:
        return {}


def show_form(
    source: CaseSource, asked: Asked, known: Mapping[str, Any] = NOTHING, *, typed: bool = False
) -> dict[str, Any]:
    """The parts of the panel of a what-if; without fields for a scenario that cannot be read.

    ``known`` is the state that has led there (`altered`), ``typed`` as in `shown_text`.
    """
    error = None
    try:
        form = source.form(asked)
    except CaseError as wrong:
        form, error = Form(), wrong
    return {
        "fields": field_inputs(form), "chips": show_chips(source, asked), "quantities": quantity_options(form),
        "text": shown_text(source, asked, known, error, typed=typed), "command": form.command,
        "wrong": "", "wrong_fields": [],
    }  # fmt: skip


def show_chips(source: CaseSource, asked: Asked) -> list[Any]:
    """What has been changed, piece by piece."""
    if asked.text is None:
        return change_chips(asked.changes)
    return change_chips(asked.changes, len(source.text(replace(asked, changes=())).changed))


def show_cards(source: CaseSource, asked: Asked) -> list[Any]:
    """All cards of a scenario that was shown before its speed-up was known; none for one that has them all."""
    try:
        case = source.case(asked, quick=True)
        waiting = bool(case.baseline) and case.predicted_numbers.speedup is None
        return card_row(source.case(asked)) if waiting else []
    except CaseError:
        return []


def show_advice(source: CaseSource, asked: Asked) -> list[Any]:
    """The line of advice for a scenario that is shown."""
    try:
        return advice_line(source.advice(asked))
    except CaseError as error:
        return advice_missing(str(error))


def show_sweep(source: CaseSource, asked: Asked, theme: str) -> tuple[dict[str, Any], Any]:
    """Figure and ranking of the scenario's sweep, or why there is none."""
    try:
        sweep = source.sweep(asked)
    except CaseError as error:
        return sweep_figure(Sweep(), theme), html.Div(str(error), className="wrong")
    if not sweep.rows:
        return sweep_figure(sweep, theme), html.Div("This scenario has no sweep section.", className="dim")
    return sweep_figure(sweep, theme), sweep_tables(sweep, asked.changes)


def drawing_of(case: Case, view: View) -> Drawing:
    """The timelines of a case as ``view`` shows them."""
    critical = case.critical if view.critical else None
    return timeline_figure(case.predicted, case.other, view, case.match, critical)


def draw(case: Case, key: str, view: View) -> dict[str, Any]:
    """The figure of a view with lane list, legend, details and messages."""
    drawing = drawing_of(case, view)
    drawing.figure["layout"]["meta"] = {
        "case": key, "home": list(drawing.home_us), "window": list(drawing.window_us),
        "theme": view.theme, "mode": view.mode,
    }  # fmt: skip
    shift, _ = alignment_shift(case.predicted, case.other, view)
    details = details_strip(case, view.selected, shift, view.theme) if view.selected else None
    return {
        "figure": drawing.figure,
        "gutter": gutter_rows(drawing, case.side_notes, case.warps),
        "height": {"height": f"{drawing.stack.height_px}px"},
        "legend": _legend(drawing),
        "count": f"{drawing.intervals:,} intervals{', binned' if drawing.binned else ''} ·",
        "details": _with_close(details),
        "details_style": {} if details else {"display": "none"},
        "notice": " ".join(drawing.messages),
        "search_error": drawing.pattern_error or False,
    }


def _legend(drawing: Drawing) -> list[Any]:
    """A button for each colour; waits, which come one behind the other, share the word that they begin with."""
    chips: list[Any] = []
    part = ("", "")
    for entry in drawing.legend:
        wait = entry.label.startswith(_WAIT)
        of = (entry.of, _WAIT if wait else "")
        classes = ["chip", *(["off"] if not entry.shown else []), *(["fixed"] if entry.category < 0 else [])]
        if of != part:
            begun = [word for word, before in zip(of, part, strict=True) if word and word != before]
            chips += [html.Span(word, className="legend-part") for word in begun]
            if not begun:
                classes.append("apart")
            part = of
        swatch = html.Span(className="swatch", style={"background": entry.colour})
        pressed = {"data-category": str(entry.category), "aria-pressed": str(entry.shown).lower()}
        chips.append(
            html.Button(
                [swatch, entry.label.removeprefix(_WAIT) if wait else entry.label], className=" ".join(classes),
                title=entry.meaning, **(pressed if entry.category >= 0 else {}),
            )
        )  # fmt: skip
    return chips


def _with_close(details: list | None) -> list:
    return (
        []
        if details is None
        else [*details, html.Button("×", className="close", **{"data-close": "1"}, title="Close (Esc)")]
    )
