"""Plotly's layout of the timeline figure: its size, the time axis, and an axis of pixels for each panel."""

from __future__ import annotations

from typing import Any

from gpusim.dashboard.figure.difference import drift_scale, hold_inside
from gpusim.dashboard.figure.geometry import AXIS_PX, HEADER_PX, Panel, Stack
from gpusim.dashboard.figure.palette import CLEAR, FONT, ink
from gpusim.dashboard.figure.text import delta_text
from gpusim.dashboard.figure.ticks import time_ticks
from gpusim.dashboard.figure.view import View

__all__ = ["figure_layout", "look", "scale_drift"]


def look(theme: str) -> dict[str, Any]:
    """What the layouts of all figures share: background, font and hover text of a theme."""
    tones = ink(theme)
    return {
        "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR, "font": {"family": FONT, "size": 11, "color": tones.dim},
        "hovermode": "closest", "uirevision": "keep",
        "hoverlabel": {
            "align": "left", "bgcolor": tones.panel, "bordercolor": tones.dim,
            "font": {"family": FONT, "size": 12, "color": tones.text},
        },
    }  # fmt: skip


def figure_layout(stack: Stack, window: tuple[float, float], view: View) -> dict[str, Any]:
    """Size, axes and look of the figure of ``stack`` over ``window``, µs."""
    tones = ink(view.theme)
    layout: dict[str, Any] = {
        "width": view.width,
        "height": stack.height_px,
        "margin": {"l": 0, "r": 20, "t": HEADER_PX, "b": AXIS_PX, "pad": 0},
        "autosize": False,
        "barmode": "overlay",
        "bargap": 0,
        "dragmode": "zoom",
        "showlegend": False,
        **look(view.theme),
        "xaxis": {
            "type": "linear", "range": list(window), "anchor": stack.panels[-1].axis, "side": "bottom",
            "gridcolor": tones.grid, "zeroline": False, "showline": True, "linecolor": tones.grid, "ticks": "outside",
            "tickcolor": tones.dim, "ticklen": 4, "tickfont": {"size": 11}, **time_ticks(*window, view.width),
        },
    }  # fmt: skip
    for panel in stack.panels:
        name = "yaxis" + panel.axis[1:]
        layout[name] = {
            "type": "linear", "domain": stack.domain(panel), "range": [panel.height_px, 0], "anchor": "x",
            "fixedrange": True, "showgrid": False, "zeroline": False, "showticklabels": False, "showline": False,
        }  # fmt: skip
        if panel.side == "drift":
            layout[name] |= {"showgrid": True, "gridcolor": tones.grid, "zeroline": True, "zerolinecolor": tones.dim}
    return layout


def scale_drift(figure: dict[str, Any], panel: Panel) -> list[tuple[float, str]]:
    """Give ``panel``, that of start differences, its scale in ``figure``.

    Returns its labels, which go beside it, where no point can cover them: pixels from the top, and the words.
    """
    (low, high), values = drift_scale([trace for trace in figure["data"] if trace["yaxis"] == panel.axis])
    figure["data"] = [
        hold_inside(trace, low, high) if trace["yaxis"] == panel.axis else trace for trace in figure["data"]
    ]
    figure["layout"]["yaxis" + panel.axis[1:]] |= {"range": [low, high], "tickmode": "array", "tickvals": values}
    return [(panel.height_px * (high - value) / (high - low), delta_text(value)) for value in values]
