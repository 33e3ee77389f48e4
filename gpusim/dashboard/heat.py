"""Too many intervals for bars: a heatmap whose colours are as frequent as what they stand for; the mix is on hover."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusim.dashboard.bins import Bins, bin_shares
from gpusim.dashboard.geometry import Panel
from gpusim.dashboard.palette import colour, label
from gpusim.dashboard.track import Track

__all__ = ["coloured", "crowded_lanes", "heat_trace", "largest_shares", "strip_names", "typed"]

MOST_STRIPS = 14
MOST_CELLS = 60_000
SHOWN = 3


def crowded_lanes(panel: Panel) -> list[str]:
    """Lanes of rows that hold too many of them to draw each: they are always mixed into one strip."""
    return [lane for row in panel.rows if len(row.lanes) > MOST_STRIPS for lane in row.lanes]


def typed(values: np.ndarray) -> dict[str, str]:
    """An array in plotly's binary form: small, and fast on both sides."""
    spec = {"dtype": values.dtype.str[1:], "bdata": base64.b64encode(np.ascontiguousarray(values)).decode()}
    return spec | ({"shape": ",".join(map(str, values.shape))} if values.ndim > 1 else {})


def heat_trace(
    track: Track, index: np.ndarray, panel: Panel, *, low_us: float, high_us: float, width_px: int, theme: str,
    lane_part: tuple[float, float] = (0.0, 1.0), faint: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The intervals ``index`` binned over [low, high) for a panel that is ``width_px`` wide."""
    edges, strip_of = panel.strips(MOST_STRIPS, lane_part)
    strips = len(edges) - 1
    filled = max(len(set(strip_of.values())), 1)
    count = int(np.clip(min(width_px / 1.5, MOST_CELLS / filled), 160, 1600))
    lane_strip = np.array([strip_of.get(name, 0) for name in track.timeline.lanes], dtype=np.int64)
    bins = bin_shares(
        track.start_us[index] + track.shift_us, track.end_us[index] + track.shift_us,
        lane_strip[track.timeline.lane[index]], track.category[index],
        rows=strips, low_us=low_us, high_us=high_us, count=count,
    )  # fmt: skip
    return {
        "type": "heatmap",
        "x": typed(bins.edges_us),
        "y": typed(edges),
        **coloured(bins.faithful(), bins.categories, [colour(c, theme) for c in bins.categories]),
        "opacity": 0.6 if faint else 1.0,
        "xaxis": "x",
        "yaxis": panel.axis,
        "meta": {
            "side": track.side,
            "rows": strip_names(panel, strip_of, strips),
            "labels": [label(c) for c in bins.categories],
            "colours": [colour(c, theme) for c in bins.categories],
            "mix": typed(largest_shares(bins)),
        },
    }


def coloured(winner: np.ndarray, classes: Sequence[int], shades: Sequence[str]) -> dict[str, Any]:
    """Heatmap settings that give each class of ``winner`` its shade, and none to -1."""
    place = np.full(max([*classes, -1]) + 2, 0, dtype=np.uint8)
    place[np.asarray(classes, dtype=np.int64)] = np.arange(1, len(classes) + 1)
    steps = len(shades) + 1
    scale = [[e, s] for k, s in enumerate(("rgba(0,0,0,0)", *shades)) for e in (k / steps, (k + 1) / steps)]
    # The last entry of ``place`` is what -1 picks.
    return {"z": typed(place[winner]), "zmin": -0.5, "zmax": steps - 0.5, "colorscale": scale,
            "showscale": False, "hoverinfo": "none"}  # fmt: skip


def strip_names(panel: Panel, strip_of: dict[str, int], strips: int) -> list[str]:
    """The lane of each strip, or its row's label where several lanes share it."""
    names = [""] * strips
    for row in panel.rows:
        for lane in row.lanes:
            place = strip_of[lane]
            names[place] = row.label if names[place] else lane
    return names


def largest_shares(bins: Bins, places: bool = False) -> np.ndarray:
    """Per cell (category place, percent) of the largest shares: what the page's hover shows.

    With ``places`` the category itself stands for its place. Bytes instead of text keep a
    picture of 60,000 cells below half a megabyte.
    """
    rows, count, kinds = bins.time_us.shape
    if not kinds:
        return np.zeros((rows, count, 2), dtype=np.uint8)
    order = np.argsort(-bins.time_us, axis=2, kind="stable")[:, :, : min(SHOWN, kinds)]
    total = np.maximum(bins.time_us.sum(axis=2, keepdims=True), 1e-30)
    share = np.rint(100 * np.take_along_axis(bins.time_us, order, axis=2) / total)
    if places:
        order = np.asarray(bins.categories)[order]
    return np.stack([order, share], axis=3).reshape(rows, count, -1).astype(np.uint8)
