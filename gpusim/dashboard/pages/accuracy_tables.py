"""The tables of the accuracy page: errors by technique, and the cases themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dash import html

from gpusim.dashboard.figure.text import MINUS, counted, even_text, percent, signed_percent
from gpusim.dashboard.figure.track import MICRO
from gpusim.dashboard.page.address import query_of
from gpusim.dashboard.page.case import Finder
from gpusim.dashboard.page.layout import PAGES
from gpusim.dashboard.pages.accuracy_rows import COLUMNS, Wanted, error_of
from gpusim.validation import Accuracy, Band, RecordedCase
from gpusim.validation.report import ErrorSummary

__all__ = ["address_in", "case_table", "summary_cards", "technique_table", "turned"]

_TITLES = {"hidden": "hidden fraction", "spread": "spread of runs"}
_WORDS = ("technique", "device", "parameters")
"""Columns of words; all others are numbers."""


def address_in(find: Finder, case: RecordedCase) -> str:
    """Where the timelines of a case are, "" where no scenario is of its technique."""
    asked = find(case.technique, case.device, case.params)
    return "" if asked is None else PAGES["timelines"] + query_of(asked.name, asked.changes)


def summary_cards(report: Accuracy) -> list[html.Div]:
    """How many cases, how far off, and how many are near."""
    errors = [abs(error_of(case)) for case in report.cases]
    if report.overall is None:
        return [_card("recordings", "0", "none is like this")]
    near, fair = (100 * sum(error <= bound for error in errors) // len(errors) for bound in (0.05, 0.10))
    hidden = sum(case.comparison.hidden_error is not None for case in report.cases)
    worst_hidden = report.overall.hidden_worst
    return [
        _card("recordings", f"{len(errors):,}", counted(len(report.techniques), "technique")),
        _card("mean error of the total", percent(report.overall.mean_abs), f"aim: {percent(report.band.mean)}"),
        _card("worst", signed_percent(report.overall.worst), f"aim: ±{percent(report.band.worst)}"),
        _card(f"within ±{percent(report.band.worst)}", f"{report.overall.percent_within} %",
              f"within ±5 %: {near} %, ±10 %: {fair} %"),
        _card("hidden fraction, worst", "–" if worst_hidden is None else _signed(worst_hidden),
              f"aim: ±{report.band.hidden:.2f}; of {counted(hidden, 'timeline')}"),
    ]  # fmt: skip


def _card(title: str, value: str, detail: str) -> html.Div:
    return html.Div(
        [html.Div(title, className="card-title"), html.Div(value, className="card-value"),
         html.Div(detail, className="card-detail")], className="card",
    )  # fmt: skip


def technique_table(report: Accuracy, wanted: Wanted) -> html.Table:
    """One row for each technique, those with the largest mean error first; a click leaves only its cases."""
    within = f"within ±{percent(report.band.worst)}"
    head = ("technique", "recordings", "mean", "worst", within, "hidden, worst")
    rows = sorted(report.techniques, key=lambda row: -row.mean_abs)
    body = [_summary(row, report.band, wanted) for row in rows]
    if report.overall is not None and len(rows) > 1:
        body.append(html.Tr([html.Th("all", scope="row"), *_summary_cells(report.overall, report.band)]))
    return html.Table(
        [html.Caption(_aim(report)), html.Thead(html.Tr([html.Th(word, scope="col") for word in head])),
         html.Tbody(body)], className="ranking",
    )  # fmt: skip


def _aim(report: Accuracy) -> str:
    """What is aimed at, and who keeps all of it."""
    band, kept = report.band, sum(row.within(report.band) for row in report.techniques)
    return (
        f"Aim: mean {percent(band.mean)}, worst {percent(band.worst)}, hidden fraction {band.hidden:.2f}, stages "
        f"picked {percent(band.choice, 0)} from the best. Kept in every recording by {kept} of "
        f"{counted(len(report.techniques), 'technique')}, in green."
    )


def _summary(row: ErrorSummary, band: Band, wanted: Wanted) -> html.Tr:
    here = wanted.technique == row.name
    attributes = {"data-technique": "" if here else row.name, "aria-pressed": str(here).lower()}
    title = "Show all techniques again" if here else "Show only its cases"
    name = html.Button(row.name, className="link pressed" if here else "link", title=title, **attributes)
    cells = [html.Th(name, scope="row"), *_summary_cells(row, band)]
    return html.Tr(cells, className="here" if here else "")


def _summary_cells(row: ErrorSummary, band: Band) -> list[html.Td]:
    hidden = "–" if row.hidden_worst is None else _signed(row.hidden_worst)
    return [
        html.Td(f"{row.cases:,}"), html.Td(percent(row.mean_abs)),
        html.Td(signed_percent(row.worst), title=row.worst_case),
        html.Td(f"{row.percent_within} %", className="good" if row.within(band) else "",
                title=f"{row.cases_within:,} of {row.cases:,} recordings"),
        html.Td(hidden),
    ]  # fmt: skip


def case_table(
    cases: Sequence[RecordedCase], numbers: Sequence[int], wanted: Wanted, band: Band, find: Finder
) -> html.Table:
    """The cases of ``numbers``; each leads to its timelines."""
    head = [_head(name, wanted) for name in COLUMNS]
    body = [_case(cases[number], band, address_in(find, cases[number])) for number in numbers]
    return html.Table([html.Thead(html.Tr(head)), html.Tbody(body)], className="ranking cases")


def turned(wanted: Wanted, by: str) -> dict[str, Any]:
    """The order after a click on the head of ``by``: largest first, or the other way round at the second click."""
    return {"by": by, "down": not wanted.down if wanted.by == by else True}


def _head(name: str, wanted: Wanted) -> html.Th:
    mine = wanted.by == name
    arrow = (" ↓" if wanted.down else " ↑") if mine else ""
    sort = {"aria-sort": "descending" if wanted.down else "ascending"} if mine else {}
    button = html.Button(
        f"{_TITLES.get(name, name)}{arrow}", className="sort", title=f"Sort by {_TITLES.get(name, name)}",
        **{"data-order": json.dumps(turned(wanted, name))},
    )  # fmt: skip
    return html.Th(button, scope="col", className="words" if name in _WORDS else "", **sort)


def _case(case: RecordedCase, band: Band, address: str) -> html.Tr:
    comparison = case.comparison
    name: Any = html.A(case.technique, href=address, title="Show its timelines") if address else case.technique
    hidden, error = comparison.hidden_error, comparison.total_error
    cells = [
        html.Td(name, className="words"), html.Td(case.device, className="words"),
        html.Td(case.label, className="words parameters", title=case.label),
        html.Td(even_text(comparison.measured.total_s * MICRO)),
        html.Td(even_text(comparison.predicted.total_s * MICRO)),
        html.Td(signed_percent(error), className=_tone(abs(error) <= band.worst), title=comparison.gap or None),
        html.Td("–" if hidden is None else _signed(hidden),
                className=_tone(hidden is None or abs(hidden) <= band.hidden)),
        html.Td(percent(case.spread)),
    ]  # fmt: skip
    return html.Tr(cells, className="pick" if address else "", **({"data-href": address} if address else {}))


def _tone(good: bool) -> str:
    return "" if good else "bad"


def _signed(difference: float) -> str:
    return f"{difference:+.3f}".replace("-", MINUS)
