"""The tables of a sweep: all points ranked, or where they do unlike work, what is best for each amount of it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from dash import html

from gpusim.dashboard.figure.text import even_text, percent, signed_percent
from gpusim.dashboard.figure.track import MICRO
from gpusim.dashboard.page.sweeps import Sweep, SweepRow
from gpusim.scenario.sweeps.groups import SweepGroup, one_for_all
from gpusim.scenario.sweeps.yardstick import not_the_same

__all__ = ["PICK", "error_text", "seconds_text", "sweep_tables"]

PICK = "pick"
"""Type of the ids of table rows; their ``changes`` are those of the point, one a line, and ``table`` tells tables apart
that hold the same point."""


def sweep_tables(sweep: Sweep, changes: Sequence[str]) -> list[Any]:
    """The ranking; a row that is clicked opens its timelines. Points that cannot run come last, with the reason.

    Where axes change the work, in front of it the best setting of the others for each amount, and the one setting
    that is nowhere far behind; ``changes``: those that are shown.
    """
    every = _every_point(sweep, frozenset(changes))
    if not sweep.work_axes:
        return [every]
    bests = [_bests(sweep, frozenset(changes)), *_for_all(sweep)] if sweep.compared else []
    return [html.Div(_explained(sweep), className="sweep-note"), *bests, every]


def seconds_text(seconds: float | None) -> str:
    """A time of a point with its unit, "–" for none."""
    return "–" if seconds is None else even_text(seconds * MICRO)


def error_text(row: SweepRow) -> str:
    """By how much the prediction is off what was measured; "" where one of them is missing."""
    return signed_percent(row.predicted_s / row.measured_s - 1) if row.predicted_s and row.measured_s else ""


def _every_point(sweep: Sweep, changes: frozenset[str]) -> html.Table:
    """Every point, those of the same work together; "of best" is of the best that does the same."""
    compared = bool(sweep.compared)
    head = [*sweep.labels, "predicted", *(["of best"] if compared else []), "measured", "error"]
    best = sweep.measured_best
    body = [_row(row, group, compared, any(row is one for one in best), changes)
            for group in sweep.groups for row in group.ranked]  # fmt: skip
    body += [
        html.Tr([*map(html.Td, row.values),
                 html.Td(row.error, colSpan=len(head) - len(row.values), className="bad", title=row.error)])
        for row in sweep.rows
        if row.error
    ]  # fmt: skip
    return _table("every point" if sweep.work_axes and compared else "", head, body)


def _row(
    row: SweepRow, group: SweepGroup[SweepRow], compared: bool, quickest: bool, changes: frozenset[str]
) -> html.Tr:
    of_best = f"{row.total_s / group.best.total_s:.3f}×" if len(group.ranked) > 1 and group.best.total_s else "–"
    measured = seconds_text(row.measured_s)
    cells = [*row.values, seconds_text(row.predicted_s), *([of_best] if compared else []),
             html.B(measured, title="the best measured") if quickest else measured, error_text(row)]  # fmt: skip
    return _pick(row, cells, changes)


def _bests(sweep: Sweep, changes: frozenset[str]) -> html.Table:
    """A row for each amount of work, in the order of the sweep."""
    work, levers = _places(sweep, sweep.work_axes), _places(sweep, _levers(sweep))
    names = sweep.labels
    head = [*(names[place] for place in work), *(f"best {names[place]}" for place in levers), "predicted",
            "median", "worst"]  # fmt: skip
    body = [
        _pick(group.best, [*(group.best.values[place] for place in [*work, *levers]),
                           seconds_text(group.best.predicted_s), _longer(group.median_longer),
                           _longer(group.worst_longer)], changes)
        for group in sweep.groups
    ]  # fmt: skip
    return _table("the best for each amount of work; how much longer the median and the worst take", head, body)


def _for_all(sweep: Sweep) -> list[html.Div]:
    """The setting that is nowhere far behind, if any ran for every amount of work."""
    found = one_for_all(sweep.groups)
    if found is None:
        return []
    setting, longer = found
    told = ", ".join(f"{sweep.labels[sweep.axes.index(path)]} {value}" for path, value in setting.items())
    behind = f", at most {percent(longer)} longer than the best of each".replace(" %", "\u00a0%")
    return [html.Div(["one setting for all: ", html.B(told), behind], className="sweep-note")]


def _explained(sweep: Sweep) -> str:
    """Why there is no best point of all."""
    names = ", ".join(sweep.labels[place] for place in _places(sweep, sweep.work_axes))
    differ = f"{not_the_same(sweep.differ)} with {names}"
    if sweep.compared:
        return f"{differ}; compared is what does the same"
    why = "no two points that ran do the same" if _levers(sweep) else "every axis changes the work"
    return f"{differ}; {why}, so that no point is better than another"


def _levers(sweep: Sweep) -> list[str]:
    return [path for path in sweep.axes if path not in sweep.work_axes]


def _places(sweep: Sweep, paths: Container[str]) -> list[int]:
    """Which values of a row are those of ``paths``."""
    return [place for place, path in enumerate(sweep.axes) if path in paths]


def _longer(part: float | None) -> str:
    return "–" if part is None else signed_percent(part)


def _pick(row: SweepRow, cells: Iterable[Any], changes: frozenset[str]) -> html.Tr:
    here = " here" if set(row.changes) <= changes else ""
    point = "\n".join(row.changes)
    return html.Tr([html.Td(cell) for cell in cells], className=f"{PICK}{here}", **{"data-point": point})


def _table(caption: str, head: Iterable[str], body: Sequence[html.Tr]) -> html.Table:
    return html.Table(
        [
            *([html.Caption(caption)] if caption else []),
            html.Thead(html.Tr([html.Th(word) for word in head])),
            html.Tbody(body),
        ],
        className="ranking",
    )
