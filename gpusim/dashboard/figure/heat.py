"""Too many intervals for bars: shares of the time per bin, as heights where they blur, and all of them on hover."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusim.dashboard.figure.bins import bin_shares
from gpusim.dashboard.figure.geometry import Panel
from gpusim.dashboard.figure.palette import CLEAR, colour, label, order
from gpusim.dashboard.figure.stack import level_counts, level_edges, picked, stacked
from gpusim.dashboard.figure.track import Track

__all__ = ["Grid", "Shares", "heat_trace", "shares_trace"]

MOST_BINS, LEAST_BINS = 1600, 160
MOST_SHARES = 60_000
BIN_PX = 1.5
SOME = 0.4
"""Intervals per bin from which on short ones are too many to stand each for itself."""
WIDENED = 2
BELOW_ONE = 255
"""Percentage that stands for a share of less than half a percent."""


class Grid:
    """Strips and bins of a panel's part: where shares are counted and drawn."""

    def __init__(
        self, panel: Panel, low_us: float, high_us: float, width_px: float, lane_part: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        self.panel, self.low_us, self.high_us, self.width_px = panel, low_us, high_us, width_px
        self.edges, self.strip_of = panel.strips(lane_part)
        self.strips = len(self.edges) - 1
        self.lanes = panel.lanes_in(self.strip_of, self.strips)

    def bins(self, track: Track, index: np.ndarray) -> tuple[int, np.ndarray]:
        """How many bins suit the intervals ``index``, and which strips are blurred in them.

        A strip is blurred where most of its intervals, of which there are some, are shorter than a bin, and where
        it mixes several lanes. Where most strips are, wider bins show more than narrow ones.
        """
        filled = max(int((self.lanes > 0).sum()), 1)
        most = int(np.clip(min(self.width_px / BIN_PX, MOST_SHARES / filled), LEAST_BINS, MOST_BINS))
        blurred = self._blurred(track, index, most)
        count = most // WIDENED if blurred.sum() > filled / 2 else most
        return count, blurred

    def _blurred(self, track: Track, index: np.ndarray, count: int) -> np.ndarray:
        strip = self._strip(track)[track.timeline.lane[index]]
        width_us = (self.high_us - self.low_us) / count
        short = track.end_us[index] - track.start_us[index] < width_us
        held = np.bincount(strip, minlength=self.strips)
        mostly = np.bincount(strip, weights=short, minlength=self.strips) > held / 2
        return (mostly & (held / count >= SOME)) | (self.lanes > 1)

    def _strip(self, track: Track) -> np.ndarray:
        return np.array([self.strip_of.get(name, 0) for name in track.timeline.lanes], dtype=np.int64)

    def shares(
        self, track: Track, index: np.ndarray, group: np.ndarray, places: Sequence[int], count: int
    ) -> np.ndarray:
        """(strip, bin, place) parts of the time of intervals ``index`` whose ``group`` is one of ``places``."""
        bins = bin_shares(
            track.start_us[index] + track.shift_us, track.end_us[index] + track.shift_us,
            self._strip(track)[track.timeline.lane[index]], group,
            rows=self.strips, low_us=self.low_us, high_us=self.high_us, count=count,
        )  # fmt: skip
        found = bins.shares(self.lanes)
        every = np.zeros((self.strips, count, len(places)))
        for place, code in enumerate(bins.categories):
            every[:, :, list(places).index(code)] = found[:, :, place]
        return every

    def names(self) -> list[str]:
        """The lane of each strip, or its row's label where several lanes share it."""
        names = [""] * self.strips
        for row in self.panel.rows:
            for lane in row.lanes:
                place = self.strip_of[lane]
                names[place] = row.label if names[place] and not row.merged else lane
        return names


class Shares(dict):
    """One part of what hovering tells: ``labels`` with ``colours``, and shares of one side or of two."""

    def __init__(self, title: str, labels: Sequence[str], colours: Sequence[str], *sides: np.ndarray) -> None:
        mixes = [_typed(_percent(side)) for side in sides]
        super().__init__(title=title, labels=list(labels), colours=list(colours), mixes=mixes)


def heat_trace(
    track: Track, index: np.ndarray, panel: Panel, *, low_us: float, high_us: float, width_px: int, theme: str,
    lane_part: tuple[float, float] = (0.0, 1.0), faint: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The intervals ``index`` binned over [low, high) for a panel that is ``width_px`` wide."""
    grid = Grid(panel, low_us, high_us, width_px, lane_part)
    kinds = order(np.unique(track.category[index]).tolist())
    count, blurred = grid.bins(track, index)
    shares = grid.shares(track, index, track.category[index], kinds, count)
    colours = [colour(c, theme) for c in kinds]
    told = [Shares("", [label(c) for c in kinds], colours, shares)]
    trace = shares_trace(grid, shares, blurred, colours, track.side, told)
    return trace | {"opacity": 0.6 if faint else 1.0}


def shares_trace(
    grid: Grid, shares: np.ndarray, blurred: np.ndarray, shades: Sequence[str], side: str, told: Sequence[Shares]
) -> dict[str, Any]:
    """A heatmap of ``shares``: heights from the bottom up where a strip is ``blurred``, else one shade per bin."""
    count = shares.shape[1]
    levels = level_counts(grid.edges, blurred, count)
    cells = stacked(shares, levels)
    cells[np.cumsum(levels)[~blurred] - 1] = picked(shares[~blurred])
    steps = len(shades) + 1
    scale = [[e, s] for k, s in enumerate((CLEAR, *shades)) for e in (k / steps, (k + 1) / steps)]
    return {
        "type": "heatmap",
        "x": _typed(np.linspace(grid.low_us, grid.high_us, count + 1)),
        "y": _typed(level_edges(grid.edges, levels)),
        "z": _typed((cells + 1).astype(np.uint8)),
        "zmin": -0.5,
        "zmax": steps - 0.5,
        "colorscale": scale,
        "showscale": False,
        "hoverinfo": "none",
        "xaxis": "x",
        "yaxis": grid.panel.axis,
        "meta": {
            "side": side,
            "rows": grid.names(),
            "strips": np.repeat(np.arange(grid.strips), levels).tolist(),
            "parts": list(told),
        },
    }


def _typed(values: np.ndarray) -> dict[str, str]:
    """An array in plotly's binary form: small, and fast on both sides."""
    spec = {"dtype": values.dtype.str[1:], "bdata": base64.b64encode(np.ascontiguousarray(values)).decode()}
    return spec | ({"shape": ",".join(map(str, values.shape))} if values.ndim > 1 else {})


def _percent(shares: np.ndarray) -> np.ndarray:
    """Whole percentages as bytes: text would make a picture of 60,000 cells ten times as large."""
    whole = np.rint(100 * shares)
    return np.where((shares > 0) & (whole == 0), BELOW_ONE, whole).astype(np.uint8)
