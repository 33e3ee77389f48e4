"""Stretches without intervals that a reader could take for idle time, said to be what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.dashboard.figure.bars import bar
from gpusim.dashboard.figure.geometry import Panel
from gpusim.dashboard.figure.palette import colour, ink
from gpusim.dashboard.figure.recorded import ends_of, tiles_kept
from gpusim.dashboard.figure.text import even_text, percent
from gpusim.dashboard.figure.track import MICRO, Track
from gpusim.timeline import KINDS, REASONS
from gpusim.timeline.lane_names import is_host

__all__ = ["blank_shade", "end_traces", "unrecorded_traces"]

LATER, LAUNCH, UNRECORDED = "slower CTAs", "launch overhead", "not recorded"
IDLE, LAUNCH_WAIT = KINDS.index("idle"), len(KINDS) + REASONS.index("launch")
LEVEL_PX, UPRIGHT_PX, LINE_PX = 220, 96, 16
"""Room for a name with its size in a line, for a name alone that stands upright, and for the height of either."""
NARROW_PX = 1.5
"""What is narrower is not drawn: it would only tint the bars beside it."""


def end_traces(track: Track, panel: Panel, *, px_per_us: float, theme: str) -> list[dict[str, Any]]:
    """Bands over all lanes from their end to that of the run: CTAs that end later, and the kernel's launch."""
    if not panel.rows:
        return []
    ends = ends_of(track)
    late_us = float(track.timeline.meta.get("lateness_s", 0.0)) * MICRO
    launch_us = ends.run - ends.work
    bands = [
        (LATER, ends.work - late_us, late_us, "the slowest of the CTAs that are not shown ends so much later"),
        (LAUNCH, ends.work, launch_us, "launching and finishing the kernel, drawn at the end"),
    ]
    return [
        _band(name, start + track.shift_us, length, f"{even_text(length, 3)}, {percent(length / ends.run, 0)}", why,
              panel, px_per_us, theme)
        for name, start, length, why in bands if length * px_per_us >= NARROW_PX
    ]  # fmt: skip


def _band(
    name: str, start: float, length: float, size: str, why: str, panel: Panel, px_per_us: float, theme: str
) -> dict[str, Any]:
    width = length * px_per_us
    text = f"{name} {size} of the run" if width >= LEVEL_PX else name
    fits = width >= LEVEL_PX or (panel.height_px >= UPRIGHT_PX and width >= LINE_PX)
    hover = f"<b>{name}</b>  {size} of the run<br>{why}"
    return bar(
        panel, name, [start], [length], [panel.height_px / 2], [panel.height_px],
        marker={"color": blank_shade(name, theme), "line": {"width": 0}}, hovertext=[hover],
        text=[text if fits else ""], textposition="inside", insidetextanchor="middle",
        textangle=0 if width >= LEVEL_PX else -90, insidetextfont={"size": 11, "color": ink(theme).text},
        constraintext="none", cliponaxis=True,
    )  # fmt: skip


def unrecorded_traces(
    track: Track, panel: Panel, *, px_per_us: float, theme: str, lane_part: tuple[float, float] = (0.0, 1.0)
) -> list[dict[str, Any]]:
    """What a probe left out at the end of its lanes, and what a tracer does not see of a host."""
    stretches = [*_left_out(track, panel), *_between_calls(track, panel, NARROW_PX / px_per_us)]
    if not stretches:
        return []
    lanes, starts, lengths, words = zip(*stretches, strict=True)
    centre, thickness = panel.places(lanes, lane_part)
    tones = ink(theme)
    hatch = {"shape": "/", "size": 6, "solidity": 0.18, "fgcolor": tones.dim, "bgcolor": tones.panel}
    return [
        bar(
            panel, UNRECORDED, np.asarray(starts) + track.shift_us, lengths, centre, thickness,
            marker={"color": tones.panel, "line": {"width": 0}, "pattern": hatch}, hovertext=list(words),
        )
    ]  # fmt: skip


def blank_shade(name: str, theme: str) -> str:
    """Colour of the trace called ``name``; for the legend a hatch in the words of a style sheet."""
    tones = ink(theme)
    hatch = f"repeating-linear-gradient(135deg, {tones.dim} 0 1px, {tones.panel} 1px 4px)"
    return {UNRECORDED: hatch, LATER: colour(IDLE, theme), LAUNCH: colour(LAUNCH_WAIT, theme)}[name]


def _left_out(track: Track, panel: Panel) -> list[tuple[str, float, float, str]]:
    """Lane, start, length and words of what follows the tiles of each CTA that a probe kept."""
    kept = tiles_kept(track.timeline)
    if not kept:
        return []
    end = ends_of(track).work
    words = f"<b>{UNRECORDED}</b><br>the probe keeps the first {kept[0]:,} of the {kept[1]:,} tiles of a CTA"
    found = []
    for name in _shown(track, panel):
        first, last = track.bounds[track.lane_ids[name]], track.bounds[track.lane_ids[name] + 1]
        # Where a lane goes on with the first tiles another CTA has come.
        left = first + np.flatnonzero(np.diff(track.timeline.tile[first:last]) < -kept[0] / 2)
        begins, ends = track.latest_end_us[[*left, last - 1]], [*track.start_us[left + 1], end]
        found += [(name, float(a), float(b - a), words) for a, b in zip(begins, ends, strict=True) if a < b]
    return found


def _between_calls(track: Track, panel: Panel, least_us: float) -> list[tuple[str, float, float, str]]:
    """Lane, start, length and words of the gaps between a traced host's calls, those longer than ``least_us``."""
    if not track.is_measured:
        return []
    words = f"<b>{UNRECORDED}</b><br>the tracer sees a host's calls, not what it does between them"
    found = []
    for name in _shown(track, panel):
        if not is_host(name):
            continue
        first, last = track.bounds[track.lane_ids[name]], track.bounds[track.lane_ids[name] + 1]
        begin, end = track.latest_end_us[first : last - 1], track.start_us[first + 1 : last]
        wide = np.flatnonzero(end - begin > least_us)
        found += [(name, float(begin[i]), float(end[i] - begin[i]), words) for i in wide]
    return found


def _shown(track: Track, panel: Panel) -> list[str]:
    used = set(track.used_lanes)
    return [lane for lane in panel.lanes() if lane in used]
