"""The roofline of a device with every recorded kernel under it: measured rates over the work that the model counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gpusim.dashboard.figure.layout import look
from gpusim.dashboard.figure.palette import LINES, ink
from gpusim.dashboard.figure.text import even_text, percent
from gpusim.dashboard.figure.track import MICRO
from gpusim.scenario import from_data, predict
from gpusim.timeline.roofline import FP32, TENSOR_CORES, Roofline, roofline
from gpusim.units import format_quantity
from gpusim.validation import RecordedCase

__all__ = ["HEIGHT", "VIEWS", "Peaks", "Spot", "peaks_of", "roofline_figure", "spots_of"]

VIEWS = ("FLOP/s", "bytes/s")
HEIGHT = 400
_LOWEST = 1e-2
"""Intensity, FLOP per byte, left of which nothing is drawn: such kernels only copy."""


@dataclass(frozen=True, slots=True)
class Peaks:
    """What a prediction takes for the peaks of a device."""

    bytes_per_s: float
    flop_per_s: float


@dataclass(frozen=True, slots=True)
class Spot:
    """A recorded kernel under the roofline; ``number`` is that of its case."""

    number: int
    case: RecordedCase
    roofline: Roofline


@lru_cache
def peaks_of(device: str) -> Peaks:
    """As any prediction for it states them, be it of the least kernel. Raises GpusimError."""
    least = {"warps": 1, "per_tile": [{"compute": {"ffma": 1}}]}
    kernel = {"grid": 1, "tiles_per_cta": 1, "roles": {"one": least}}
    meta = predict(from_data({"question": "Which peaks?", "device": device, "kernel": kernel}, "peaks")).meta
    return Peaks(meta["peak_bytes_per_s"], meta["peak_flop_per_s"])


def spots_of(cases: Sequence[RecordedCase], device: str) -> tuple[list[Spot], int]:
    """The kernels recorded on a device, and how many of them are left out because they compute next to nothing."""
    spots, left_out = [], 0
    for number, case in enumerate(cases):
        place = roofline(case.comparison.measured) if case.device == device else None
        if place is not None and _LOWEST <= place.intensity < math.inf:
            spots.append(Spot(number, case, place))
        else:
            left_out += place is not None
    return spots, left_out


def roofline_figure(peaks: Peaks, spots: Sequence[Spot], view: str, theme: str) -> dict[str, Any]:
    """Roofs and kernels; ``view`` is one of `VIEWS`. A point's ``customdata`` is the number of its case."""
    tensor = max(
        (s.case.comparison.measured.meta["peak_flop_per_s"] for s in spots if s.roofline.arithmetic == TENSOR_CORES),
        default=None,
    )
    roofs = {FP32: peaks.flop_per_s} | ({TENSOR_CORES: tensor} if tensor else {})
    most = 4 * max([peak / peaks.bytes_per_s for peak in roofs.values()] + [s.roofline.intensity / 2 for s in spots])
    traces = [_roof(name, peak, peaks.bytes_per_s, most, view, theme) for name, peak in roofs.items()]
    for name, shade in ((FP32, LINES[0]), (TENSOR_CORES, LINES[1])):
        traces.append(_spots([spot for spot in spots if spot.roofline.arithmetic == name], name, shade, view))
    return {"data": traces, "layout": _layout(peaks, roofs, most, spots, view, theme)}


def _roof(name: str, peak: float, peak_bytes: float, most: float, view: str, theme: str) -> dict[str, Any]:
    """Memory up to the ridge, arithmetic beyond it."""
    across = [_LOWEST, peak / peak_bytes, most]
    rates = [min(peak, intensity * peak_bytes) for intensity in across]
    up = rates if view == VIEWS[0] else [rate / intensity for rate, intensity in zip(rates, across, strict=True)]
    tones = ink(theme)
    return {
        "type": "scatter", "mode": "lines", "x": across, "y": up, "showlegend": False, "name": name,
        "line": {"color": tones.edge, "width": 1.6, "dash": "solid" if name == FP32 else "dot"},
        "hovertemplate": f"roof of {name}: {_rate(peak, 'FLOP/s')}<br>and of memory: {_rate(peak_bytes, 'bytes/s')}"
                         "<extra></extra>",
    }  # fmt: skip


def _spots(spots: Sequence[Spot], name: str, shade: str, view: str) -> dict[str, Any]:
    rate = "flop_per_s" if view == VIEWS[0] else "bandwidth_bytes_per_s"
    return {
        "type": "scatter", "mode": "markers", "name": f"{name} ({len(spots):,})", "visible": bool(spots),
        "x": [spot.roofline.intensity for spot in spots], "y": [getattr(spot.roofline, rate) for spot in spots],
        "customdata": [spot.number for spot in spots], "hovertext": [_hover(spot) for spot in spots],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"color": shade, "size": 5.5, "opacity": 0.55, "line": {"width": 0}},
    }  # fmt: skip


def _hover(spot: Spot) -> str:
    place, label = spot.roofline, spot.case.label
    lines = [label[at : at + 76] for at in range(0, len(label), 76)]
    return "<br>".join(
        (
            f"<b>{spot.case.technique}</b>, {even_text(spot.case.comparison.measured.total_s * MICRO)}", *lines,
            f"{_rate(place.flop_per_s, 'FLOP/s')}, {percent(place.flop_share, 0)} of the peak of {place.arithmetic}",
            f"{_rate(place.bandwidth_bytes_per_s, 'bytes/s')}, {percent(place.bandwidth_share, 0)} of that of memory",
            f"{place.intensity:.3g} FLOP per byte",
        )
    )  # fmt: skip


def _rate(value: float, unit: str) -> str:
    return format_quantity(value, "bandwidth" if unit == "bytes/s" else "flop_rate", 3)


def _layout(
    peaks: Peaks, roofs: dict[str, float], most: float, spots: Sequence[Spot], view: str, theme: str
) -> dict[str, Any]:
    tones = ink(theme)
    rates = [s.roofline.flop_per_s if view == VIEWS[0] else s.roofline.bandwidth_bytes_per_s for s in spots]
    top = max(roofs.values()) if view == VIEWS[0] else peaks.bytes_per_s
    low, high = min([*rates, top / 1e3]), max([*rates, top])
    left = min([s.roofline.intensity for s in spots] + [0.1])
    axis = {
        "type": "log", "gridcolor": tones.grid, "linecolor": tones.grid, "zeroline": False, "tickfont": {"size": 11},
    }  # fmt: skip
    ticks = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    title = {"font": {"size": 12}, "standoff": 8}
    notes = [
        {"x": math.log10(most), "y": math.log10(peak), "text": f"{name}, {_rate(peak, 'FLOP/s')}", "xanchor": "right",
         "yanchor": "bottom", "showarrow": False, "font": {"size": 11, "color": tones.text}}
        for name, peak in roofs.items() if view == VIEWS[0]
    ]  # fmt: skip
    if view == VIEWS[1]:
        notes = [{"x": math.log10(left), "y": math.log10(top), "text": f"memory, {_rate(top, 'bytes/s')}",
                  "xanchor": "left", "yanchor": "bottom", "showarrow": False,
                  "font": {"size": 11, "color": tones.text}}]  # fmt: skip
    return {
        **look(theme), "height": HEIGHT, "margin": {"l": 92, "r": 12, "t": 30, "b": 46}, "dragmode": "zoom",
        "xaxis": axis | {"title": title | {"text": "FLOP per byte of memory traffic"}, "dtick": 1,
                         "range": [math.log10(left) - 0.05, math.log10(most)]},
        "yaxis": axis | {"title": title | {"text": f"measured {view}"}, "tickvals": ticks,
                         "ticktext": [_rate(tick, view) for tick in ticks],
                         "range": [math.log10(low) - 0.1, math.log10(high) + 0.25]},
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 11.5}},
        "annotations": notes,
    }  # fmt: skip
