"""Predicted against measured over all cases, or their error, on a logarithmic axis of time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gpusim.dashboard.figure.layout import look
from gpusim.dashboard.figure.palette import LINES, ink
from gpusim.dashboard.figure.text import even_text, signed_percent, time_text
from gpusim.dashboard.figure.track import MICRO
from gpusim.dashboard.pages.accuracy_rows import error_of
from gpusim.validation import RecordedCase

__all__ = ["HEIGHT", "VIEWS", "accuracy_figure"]

VIEWS = ("predicted", "error")
HEIGHT = 430
_NEAR, _FAR = 0.05, 0.10
_CLASSES = (
    (f"within ±{_NEAR:.0%}".replace("%", " %"), lambda error: abs(error) <= _NEAR),
    (f"within ±{_FAR:.0%}".replace("%", " %"), lambda error: _NEAR < abs(error) <= _FAR),
    ("beyond", lambda error: abs(error) > _FAR),
)
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")
"""Of devices, the one with most recordings first."""


def accuracy_figure(cases: Sequence[RecordedCase], numbers: Sequence[int], view: str, theme: str) -> dict[str, Any]:
    """The cases of ``numbers``; a point's ``customdata`` is its number. ``view`` is one of `VIEWS`."""
    devices = [device for device, _ in Counter(case.device for case in cases).most_common()]
    shades = (LINES[0], LINES[1], ink(theme).accent)
    traces = []
    for (name, belongs), shade in zip(_CLASSES, shades, strict=True):
        members = [number for number in numbers if belongs(error_of(cases[number]))]
        traces.append(_points(cases, members, view, f"{name} ({len(members):,})", shade, devices))
    span = _span(cases, numbers)
    return {
        "data": [*_bands(span, view, theme), *traces, *_edges(span, view, theme)],
        "layout": _layout(cases, numbers, span, view, theme),
    }


def _points(
    cases: Sequence[RecordedCase], members: Sequence[int], view: str, name: str, shade: str, devices: Sequence[str]
) -> dict[str, Any]:
    sides = [cases[number].comparison for number in members]
    across = [side.measured.total_s for side in sides]
    up = [side.predicted.total_s for side in sides] if view == "predicted" else [side.total_error for side in sides]
    return {
        "type": "scatter", "mode": "markers", "name": name, "x": across, "y": up, "customdata": list(members),
        "hovertext": [_hover(cases[number]) for number in members], "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "color": shade, "size": 5, "opacity": 0.5, "line": {"width": 0},
            "symbol": [_SYMBOLS[devices.index(cases[number].device) % len(_SYMBOLS)] for number in members],
        },
    }  # fmt: skip


def _hover(case: RecordedCase) -> str:
    ours, theirs = case.comparison.predicted.total_s * MICRO, case.comparison.measured.total_s * MICRO
    label = ", ".join(f"{name}={value}" for name, value in case.params.items())
    lines = [label[at : at + 76] for at in range(0, len(label), 76)]
    return "<br>".join(
        (
            f"<b>{case.technique}</b> on {case.device}", *lines,
            f"predicted {even_text(ours)}, measured {even_text(theirs)}: <b>{signed_percent(error_of(case))}</b>",
        )
    )  # fmt: skip


def _span(cases: Sequence[RecordedCase], numbers: Sequence[int]) -> tuple[float, float]:
    """The decades that the totals fill, as powers of ten with a little room."""
    totals = [
        side.total_s for n in numbers for side in (cases[n].comparison.predicted, cases[n].comparison.measured)
    ] or [1e-6, 1e-3]
    return math.log10(min(totals)) - 0.08, math.log10(max(totals)) + 0.08


def _bands(span: tuple[float, float], view: str, theme: str) -> list[dict[str, Any]]:
    """The two bands, the wider one below."""
    tones = ink(theme)
    low, high = (10.0**end for end in span)
    traces = []
    for width, opacity in ((_FAR, 0.45), (_NEAR, 0.8)):
        top, bottom = ((low * (1 + width), high * (1 + width)), (high * (1 - width), low * (1 - width)))
        traces.append(
            {"type": "scatter", "mode": "lines", "x": [low, high, high, low], "fill": "toself", "hoverinfo": "skip",
             "y": [*top, *bottom] if view == "predicted" else [width, width, -width, -width],
             "fillcolor": tones.grid, "opacity": opacity, "line": {"width": 0}, "showlegend": False}
        )  # fmt: skip
    return traces


def _edges(span: tuple[float, float], view: str, theme: str) -> list[dict[str, Any]]:
    """Where both sides agree and where a band ends, over the points, which would hide them."""
    low, high = (10.0**end for end in span)
    tones = ink(theme)
    return [
        {"type": "scatter", "mode": "lines", "x": [low, high], "hoverinfo": "skip", "showlegend": False,
         "y": [low * (1 + error), high * (1 + error)] if view == "predicted" else [error, error],
         "line": {"color": tones.edge if not error else tones.dim, "width": 1 if not error else 0.6}}
        for error in (0.0, _NEAR, -_NEAR, _FAR, -_FAR)
    ]  # fmt: skip


def _layout(
    cases: Sequence[RecordedCase], numbers: Sequence[int], span: tuple[float, float], view: str, theme: str
) -> dict[str, Any]:
    tones = ink(theme)
    powers = range(math.floor(span[0]), math.floor(span[1]) + 1)
    steps = (1, 2, 5) if span[1] - span[0] < 2.5 else (1,)
    ticks = [tick for power in powers for step in steps if span[0] <= math.log10(tick := step * 10.0**power) <= span[1]]
    axis = {"gridcolor": tones.grid, "linecolor": tones.grid, "zeroline": False, "tickfont": {"size": 11}}
    times = {
        "type": "log", "range": list(span), "tickvals": ticks, "ticktext": [time_text(s * MICRO, 3) for s in ticks],
        "minor": {"showgrid": False},
    }  # fmt: skip
    title = {"font": {"size": 12}, "standoff": 8}
    if view == "predicted":
        up = axis | times | {"title": title | {"text": "predicted"}}
    else:
        most = 1.08 * max((abs(error_of(cases[number])) for number in numbers), default=_FAR)
        most = max(most, 1.2 * _FAR)
        up = axis | {"title": title | {"text": "error of the total"}, "tickformat": "+.0%", "range": [-most, most]}
    return {
        **look(theme), "height": HEIGHT, "margin": {"l": 66, "r": 12, "t": 30, "b": 46}, "dragmode": "zoom",
        "xaxis": axis | times | {"title": title | {"text": "measured"}}, "yaxis": up,
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 11.5}},
        "uirevision": f"{view} {span}",
    }  # fmt: skip
