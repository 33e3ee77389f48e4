"""Rows to pixels: how panels, rows and strips stack, shared by the figure and the lane list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpusim.dashboard.figure.lane_list import Row

__all__ = ["AXIS_PX", "HEADER_PX", "Panel", "Stack", "stack_panels"]

HEADER_PX = 24
AXIS_PX = 34
GAP_PX = 6
MIN_ROW_PX, MAX_ROW_PX = 14, 120
HEADING_PX = 13
"""Height of the row of an open group, which holds at most the group's own lane."""
MOST_STRIPS, LEAST_STRIP_PX = 14, 3.0
"""A row with more lanes, or with thinner ones, shows all of them mixed: strips of a pixel cannot be read."""
PAD = 0.11
"""Free part of a row above and below its bars."""


@dataclass(frozen=True)
class Panel:
    """Rows of one side. The y axis counts pixels from the top of the first row, downwards."""

    side: str
    title: str
    rows: Sequence[Row]
    top_px: float = 0.0
    row_px: float = 20.0
    axis: str = "y"

    @cached_property
    def edges(self) -> np.ndarray:
        """Pixel edges of the rows, one more than there are rows."""
        heights = [HEADING_PX if row.heading else self.row_px for row in self.rows]
        return np.concatenate([[0.0], np.cumsum(heights or [self.row_px])])

    @property
    def height_px(self) -> float:
        """Pixels of all rows together; an empty panel has the height of one row."""
        return float(self.edges[-1])

    def lanes(self) -> list[str]:
        """Names of all lanes shown."""
        return [lane for row in self.rows for lane in row.lanes]

    def mixed(self) -> list[str]:
        """Lanes of rows that hold too many of them to draw each."""
        return [lane for row, height in self._heights() if _parts(row, height) < _drawn(row) for lane in row.lanes]

    def bands(self) -> dict[str, tuple[float, float]]:
        """Lane to (centre, thickness) in pixels; lanes of a closed group share its row."""
        bands = {}
        for row, top, bottom in zip(self.rows, self.edges, self.edges[1:], strict=False):
            height = bottom - top
            for place, lane in enumerate(row.lanes):
                thickness = height * (1 - 2 * PAD) / _drawn(row)
                centre = 0.5 if row.merged else place + 0.5
                bands[lane] = (float(top + height * PAD + centre * thickness), float(thickness))
        return bands

    def places(self, lanes: Sequence[str], part: tuple[float, float] = (0.0, 1.0)) -> tuple[np.ndarray, np.ndarray]:
        """Centre and thickness in pixels of the bars of each of ``lanes``; NaN for a lane that is not shown.

        ``part`` is the part of a lane's band that its bars fill, from the top.
        """
        bands = self.bands()
        centre, thickness = np.array([bands.get(name, (np.nan, np.nan)) for name in lanes]).reshape(-1, 2).T
        top, bottom = part
        return centre + thickness * ((top + bottom) / 2 - 0.5), thickness * (bottom - top)

    def strips(self, part: tuple[float, float] = (0.0, 1.0)) -> tuple[np.ndarray, dict[str, int]]:
        """Edges of all strips, and the strip of each lane; free space is a strip too.

        ``part`` is the part of a row that its strips share.
        """
        edges, strip_of = [0.0], {}
        first, high = PAD + (1 - 2 * PAD) * part[0], (1 - 2 * PAD) * (part[1] - part[0])
        for (row, height), top in zip(self._heights(), self.edges, strict=False):
            if not row.lanes:
                continue
            begin = float(top) + height * first
            edges.append(begin)
            count = _parts(row, height)
            for place, lane in enumerate(row.lanes):
                strip_of[lane] = len(edges) - 1 + (place if count > 1 else 0)
            edges += [begin + height * high * (place + 1) / count for place in range(count)]
        edges.append(self.height_px)
        return np.array(edges), strip_of

    def lanes_in(self, strip_of: Mapping[str, int], strips: int) -> np.ndarray:
        """How many lanes share the time of each of the ``strips``; those that only launch have none of it."""
        lanes = np.zeros(strips)
        for row in self.rows:
            for lane in row.lanes:
                lanes[strip_of[lane]] += 1
            if row.lanes and lanes[strip_of[row.lanes[0]]] == len(row.lanes):
                lanes[strip_of[row.lanes[0]]] = max(len(row.lanes) - row.launching, 1)
        return lanes

    def _heights(self) -> list[tuple[Row, float]]:
        return list(zip(self.rows, np.diff(self.edges).tolist(), strict=False))


def _drawn(row: Row) -> int:
    """Lanes of a row that need room of their own."""
    return 1 if row.merged else len(row.lanes)


def _parts(row: Row, height_px: float) -> int:
    """Strips of a row: one per lane, or one for all."""
    count = _drawn(row)
    readable = count <= MOST_STRIPS and height_px * (1 - 2 * PAD) >= LEAST_STRIP_PX * count
    return count if readable else 1


@dataclass(frozen=True)
class Stack:
    """All panels of a figure and its size."""

    panels: tuple[Panel, ...]
    height_px: float

    def domain(self, panel: Panel) -> list[float]:
        """The panel's part of the plot area, from the bottom, as plotly wants it."""
        inner = self.height_px - HEADER_PX - AXIS_PX
        top = 1 - (panel.top_px - HEADER_PX) / inner
        return [max(0.0, top - panel.height_px / inner), min(1.0, top)]


def stack_panels(parts: Sequence[tuple[str, str, Sequence[Row]]], height_px: float, scale: float = 1.0) -> Stack:
    """Panels (side, title, rows) from top to bottom; rows grow or shrink to fit the height.

    ``scale`` stretches the largest and smallest row height, for rows that hold two bars.
    """
    headings = sum(row.heading for part in parts for row in part[2])
    rows = sum(max(len(part[2]), 1) for part in parts) - headings
    fixed = AXIS_PX + HEADER_PX * len(parts) + GAP_PX * (len(parts) - 1) + HEADING_PX * headings
    row_px = min(max((height_px - fixed) / max(rows, 1), MIN_ROW_PX * scale), MAX_ROW_PX * scale)
    panels, top = [], 0.0
    for place, (side, title, lines) in enumerate(parts):
        top += HEADER_PX
        panel = Panel(side, title, lines, top, float(int(row_px)), "y" if place == 0 else f"y{place + 1}")
        panels.append(panel)
        top += panel.height_px + GAP_PX
    return Stack(tuple(panels), top - GAP_PX + AXIS_PX)
