"""The timeline of a rung: predicted above measured, its first tiles, and the steps that the time cursor takes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from gpusim.dashboard.figure.figures import Drawing, timeline_figure
from gpusim.dashboard.figure.palette import is_wait, label
from gpusim.dashboard.figure.text import counted
from gpusim.dashboard.figure.track import MICRO, Track
from gpusim.dashboard.figure.view import View
from gpusim.dashboard.page.case import MEASURED, Case
from gpusim.dashboard.pages.ladder import Rung
from gpusim.timeline.metrics import COMPUTE_KINDS

__all__ = ["draw_rung", "shown_part", "steps_of", "window_of"]

MOST_STEPS = 400
_ROW_PX, _BESIDE_PX = 19, 74
"""Height of a lane, and of what is above and below the lanes of a figure."""


def window_of(case: Case, rung: Rung) -> tuple[float, float] | None:
    """From the start to where the last tile that is shown has been computed on, µs; None for the whole run."""
    if not rung.tiles:
        return None
    timeline = case.predicted.timeline
    last = timeline.mask(lanes=rung.lanes, kinds=COMPUTE_KINDS) & (timeline.tile == rung.tiles - 1)
    # The first one of each lane, which may hold several CTAs, one after the other.
    ends = [timeline.end_s[last & (timeline.lane == lane)].min() for lane in np.unique(timeline.lane[last])]
    return (0.0, 1.04 * float(max(ends)) * MICRO) if ends else None


def draw_rung(case: Case, rung: Rung, width: int, theme: str) -> Drawing:
    """The figure with its steps in ``meta``; a prediction without the change is no measurement, and left out."""
    measured = case.other if case.against == MEASURED else None
    # A change makes a rung, and no what-if.
    predicted = replace(case.predicted, title=case.predicted.side)
    sides = [predicted] if measured is None else [predicted, measured]
    lanes = [sum(re.search(rung.lanes, name) is not None for name in track.used_lanes) for track in sides]
    height = sum(_ROW_PX * count + _BESIDE_PX for count in lanes)
    view = View(window_us=window_of(case, rung), pattern=rung.lanes, width=width, height=height,
                room=max(height, 700), theme=theme)  # fmt: skip
    drawing = timeline_figure(predicted, measured, view)
    layout = drawing.figure["layout"]
    # The cursor goes from the start to the end of what is drawn; nothing here zooms.
    layout |= {"dragmode": False, "meta": {"steps": steps_of(case.predicted, rung, drawing.window_us)}}
    layout["xaxis"] |= {"fixedrange": True}
    return drawing


def steps_of(track: Track, rung: Rung, window_us: tuple[float, float]) -> list[list[Any]]:
    """When work begins, µs, and what: one step for all that begins at once."""
    timeline = track.timeline
    names = [name for name in track.used_lanes if re.search(rung.lanes, name)]
    index = track.crop(names, *window_us)
    index = index[(track.start_us[index] >= 0) & (track.start_us[index] < window_us[1])]
    begins: dict[float, list[str]] = {}
    for i in index[np.argsort(track.start_us[index], kind="stable")]:
        category = int(track.category[i])
        if not is_wait(category):
            what = f"{_short(timeline.lanes[timeline.lane[i]])}: {label(category)}"
            tile = int(timeline.tile[i])
            begins.setdefault(round(float(track.start_us[i]), 4), []).append(f"{what} {tile}" if tile >= 0 else what)
    steps = [[at, ", ".join(dict.fromkeys(texts))] for at, texts in begins.items()]
    return [[at, text if len(text) < 120 else f"{text[:110]} …"] for at, text in steps[:MOST_STEPS]]


def _short(lane: str) -> str:
    """``sm[0].cta[0].input[1]`` as ``input[1]``."""
    return re.sub(r"^sm\[\d+\]\.cta\[\d+\]\.", "", lane)


def shown_part(case: Case, rung: Rung) -> str:
    """Which part of the run is drawn, in words."""
    if not rung.tiles:
        return "the whole run"
    return f"one CTA, its first {counted(rung.tiles, 'tile')} of a run of {case.predicted.total_us:.1f} µs"
