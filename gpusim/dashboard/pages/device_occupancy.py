"""The occupancy calculator: how many CTAs fit on an SM, which resource lets no more in, and where the steps are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dash import html

from gpusim.dashboard.figure.layout import look
from gpusim.dashboard.figure.palette import LINES, ink
from gpusim.dashboard.figure.text import bytes_text, counted, percent
from gpusim.errors import DoesNotFit
from gpusim.hardware.occupancy import resident_ctas
from gpusim.hardware.profile import DeviceProfile

__all__ = ["HEIGHT", "KIB", "Cta", "answer_of", "bounds_of", "steps_figure"]

KIB = 1024
HEIGHT = 190
LIMITERS = {
    "ctas": "CTAs per SM", "warps": "warps per SM", "registers": "registers", "shared_memory": "shared memory",
}  # fmt: skip
"""What `resident_ctas` calls a resource, in words."""
_POINTS = 64


@dataclass(frozen=True, slots=True)
class Cta:
    """What a CTA asks for."""

    threads: int = 256
    registers: int = 64
    shared_bytes: int = 32 * KIB


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that a CTA may ask for on a device."""

    threads: int
    registers: int
    shared_bytes: int


def bounds_of(profile: DeviceProfile) -> Bounds:
    """As its profile states them."""
    names = ("cta.max_threads", "cta.max_registers_per_thread", "cta.max_shared_memory")
    return Bounds(*(int(profile.value(name)) for name in names))


def answer_of(profile: DeviceProfile, cta: Cta) -> list[html.Div]:
    """CTAs and warps per SM and what limits them, or why not even one CTA fits."""
    try:
        fits = resident_ctas(
            profile, threads=cta.threads, registers=cta.registers, shared_bytes=cta.shared_bytes, name="this CTA"
        )
    except DoesNotFit as error:
        return [html.Div(str(error), className="wrong", role="alert")]
    most = int(profile.value("sm.max_warps"))
    cards = [
        _card("CTAs per SM", str(fits.ctas_per_sm), f"limit: {LIMITERS[fits.limiter]}"),
        _card("warps per SM", f"{fits.warps_per_sm} of {most}", f"{percent(fits.fraction, 0)} occupancy"),
        _card("threads on the device", f"{fits.ctas_per_sm * cta.threads * int(profile.value('sm.count')):,}",
              f"on {counted(int(profile.value('sm.count')), 'SM')}"),
    ]  # fmt: skip
    top = max(fits.limits.values())
    bars = [
        html.Div(
            [html.Span(LIMITERS[name], className="bar-name"),
             html.Span(className="bar", style={"width": f"{100 * 0.6 * admitted / top:.1f}%"}),
             html.Span(counted(admitted, "CTA"), className="bar-value")],
            className=f"bar-row{' limit' if admitted == fits.ctas_per_sm else ''}",
        )
        for name, admitted in fits.limits.items()
    ]  # fmt: skip
    return [html.Div(cards, className="cards"), html.Div(bars, className="bars")]


def _card(title: str, value: str, detail: str) -> html.Div:
    return html.Div(
        [html.Div(title, className="card-title"), html.Div(value, className="card-value"),
         html.Div(detail, className="card-detail")], className="card",
    )  # fmt: skip


def _ctas(profile: DeviceProfile, cta: Cta) -> int:
    try:
        return resident_ctas(
            profile, threads=cta.threads, registers=cta.registers, shared_bytes=cta.shared_bytes
        ).ctas_per_sm
    except DoesNotFit:
        return 0


def steps_figure(profile: DeviceProfile, cta: Cta, theme: str) -> dict[str, Any]:
    """CTAs per SM over each resource, the two others as they are; a ring where the CTA stands."""
    bounds, tones = bounds_of(profile), ink(theme)
    parts: Sequence[tuple[str, str, Sequence[int], Any]] = (
        ("threads per CTA", "threads", range(32, bounds.threads + 1, 32), str),
        ("registers per thread", "registers", range(8, bounds.registers + 1), str),
        ("shared memory per CTA", "shared_bytes", _even(bounds.shared_bytes), bytes_text),
    )
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        **look(theme), "height": HEIGHT, "margin": {"l": 40, "r": 14, "t": 12, "b": 42}, "showlegend": False,
        "yaxis": {"title": {"text": "CTAs per SM", "font": {"size": 12}, "standoff": 6}, "rangemode": "tozero",
                  "gridcolor": tones.grid, "zeroline": True, "zerolinecolor": tones.grid, "fixedrange": True},
    }  # fmt: skip
    for place, (title, name, values, shown) in enumerate(parts):
        axis = "x" if not place else f"x{place + 1}"
        # What is typed need not be on the grid of the line.
        every = sorted({*values, min(getattr(cta, name), values[-1])})
        heights = [_ctas(profile, replace(cta, **{name: value})) for value in every]
        here = getattr(cta, name)
        # Warps and units are allocated as a whole: what is a little more than one costs another one.
        line = {"color": LINES[0], "width": 1.6, "shape": "vh"}
        common = {"type": "scatter", "xaxis": axis, "yaxis": "y"}
        traces += [
            {**common, "mode": "lines", "x": every, "y": heights, "line": line,
             "hovertext": [f"{shown(x)}: {counted(y, 'CTA')}" for x, y in zip(every, heights, strict=True)],
             "hovertemplate": f"{title} %{{hovertext}}<extra></extra>"},
            {**common, "mode": "markers", "x": [here], "y": [_ctas(profile, cta)], "hoverinfo": "skip",
             "marker": {"color": tones.accent, "size": 10, "symbol": "circle-open", "line": {"width": 2}}},
        ]  # fmt: skip
        layout["xaxis" + axis[1:]] = {
            "domain": [place / 3 + 0.02 * bool(place), (place + 1) / 3 - 0.03 * (place < 2)], "anchor": "y",
            "title": {"text": title, "font": {"size": 12}, "standoff": 6}, "gridcolor": tones.grid, "zeroline": False,
            "fixedrange": True, "tickangle": 0,
            **({"tickvals": (ticks := list(range(0, bounds.shared_bytes + 1, 96 * KIB))),
                "ticktext": [bytes_text(tick) if tick else "0" for tick in ticks]} if name == "shared_bytes" else {}),
        }  # fmt: skip
    return {"data": traces, "layout": layout}


def _even(most: int) -> list[int]:
    """Whole KiB up to ``most``, and that itself."""
    step = max(most // KIB // _POINTS, 1) * KIB
    return [*range(0, most, step), most]
