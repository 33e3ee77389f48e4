"""Intervals as bars: one trace per category, hover text with the matched event's difference."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpusim.dashboard.figure.geometry import Panel
from gpusim.dashboard.figure.match import Match
from gpusim.dashboard.figure.palette import colour, ink, is_wait, label, text_on
from gpusim.dashboard.figure.text import bytes_text, delta_text, time_text
from gpusim.dashboard.figure.track import Track
from gpusim.timeline import REASONS

__all__ = ["bar", "bar_traces", "hover_text", "partner_line", "told"]

HOVER = "%{hovertext}<extra></extra>"
"""A trace's ``hovertemplate`` that shows its ``hovertext`` alone."""
Floats = np.ndarray | Sequence[float]
LABELLED = 600
"""Above this many bars with room for text none carries any: text is slow to draw."""
LABEL_PX, LETTER_PX, LEAST_TEXT_PX = 26, 6.2, 11
"""Room that a tile's number needs, each letter of more words, and the height of either."""
THIN_PX, EDGE_PX = 1.5, 0.8
"""Bars mostly thinner than this are given an edge of their own colour, so that they can be seen."""


def partner_line(track: Track, index: int, match: Match | None, shift_us: float) -> str:
    """Start and duration of the same event on the other side, relative to this one."""
    if match is None:
        return ""
    pair = match.of(track.side, index, shift_us)
    if pair is None:
        return "no matching event on the other side"
    together = f", {pair.parts} parts taken together" if pair.parts > 1 else ""
    return f"{match.difference}: start {delta_text(pair.start_us)}, duration {delta_text(pair.duration_us)}{together}"


def hover_text(track: Track, index: int, match: Match | None = None, shift_us: float = 0.0) -> str:
    """Everything about one interval, as plotly's small HTML."""
    line = track.timeline
    category = int(track.category[index])
    start, end = track.start_us[index] + track.shift_us, track.end_us[index] + track.shift_us
    head = f"<b>{label(category)}</b>  {html.escape(line.lanes[line.lane[index]])}"
    facts = []
    if line.tile[index] >= 0:
        facts.append(f"tile {line.tile[index]}")
    if line.stage[index] >= 0:
        facts.append(f"stage {line.stage[index]}")
    if line.bytes[index] > 0:
        facts.append(bytes_text(line.bytes[index]))
    if is_wait(category) and line.reason[index]:
        facts.append(f"reason {REASONS[line.reason[index]]}")
    times = f"start {start:.3f} µs · duration {time_text(end - start)}"
    lines = [head, " · ".join(facts), times, partner_line(track, index, match, shift_us)]
    return "<br>".join(part for part in lines if part)


def told(track: Track, index: np.ndarray, match: Match | None, shift_us: float) -> dict[str, Any]:
    """What a trace of the intervals ``index`` says of each when hovered, and which one a click means."""
    return {
        "hovertext": [hover_text(track, int(i), match, shift_us) for i in index],
        "hovertemplate": HOVER,
        "customdata": [[track.side, int(i)] for i in index],
    }


def bar(
    panel: Panel, name: str, start_us: Floats, length_us: Floats, centre_px: Floats, thickness_px: Floats, **more: Any
) -> dict[str, Any]:
    """One trace of horizontal bars in ``panel``; ``more`` is what plotly shall know of them besides."""
    places = {"base": start_us, "x": length_us, "y": centre_px, "width": thickness_px}
    return {
        "type": "bar", "orientation": "h", "name": name, "xaxis": "x", "yaxis": panel.axis, "showlegend": False,
        "textposition": "none", "hovertemplate": HOVER,
        **{key: np.asarray(values, dtype=float).tolist() for key, values in places.items()}, **more,
    }  # fmt: skip


def bar_traces(
    track: Track,
    index: np.ndarray,
    panel: Panel,
    *,
    px_per_us: float,
    theme: str,
    match: Match | None = None,
    shift_us: float = 0.0,
    lane_part: tuple[float, float] = (0.0, 1.0),
    outlined: bool = False,
) -> list[dict[str, Any]]:
    """One bar trace per category of the intervals ``index``.

    ``lane_part`` is the part of the lane's band that bars fill, from its top. ``outlined``
    draws them hollow, for a side that lies under the other one.
    """
    lane = track.timeline.lane[index]
    centre, thickness = panel.places(track.timeline.lanes, lane_part)
    level, parts = (column[index] for column in track.levels)
    width = thickness[lane] / parts
    y = centre[lane] + width * (level + 0.5 - parts / 2)
    start = track.start_us[index] + track.shift_us
    length = track.end_us[index] - track.start_us[index]
    category = track.category[index]
    roomy = (length * px_per_us >= LABEL_PX) & (width >= LEAST_TEXT_PX)
    with_text = not outlined and int(roomy.sum()) <= LABELLED
    traces = []
    for code in np.unique(category).tolist():
        chosen = np.flatnonzero(category == code)
        typical_px = float(np.median(length[chosen])) * px_per_us
        thin = not outlined and typical_px < THIN_PX
        texts: dict[str, Any] = {}
        if with_text and roomy[chosen].any():
            tiles = track.timeline.tile[index[chosen]]
            texts = _texts(code, tiles, length[chosen], roomy[chosen], px_per_us, theme)
        traces.append(
            bar(
                panel, label(code), start[chosen], length[chosen], y[chosen],
                width[chosen] - (EDGE_PX if thin else 0.0), marker=_marker(code, theme, outlined, typical_px),
                **told(track, index[chosen], match, shift_us), **texts,
            )
        )  # fmt: skip
    return traces


def _texts(
    code: int, tiles: np.ndarray, us: np.ndarray, roomy: np.ndarray, px_per_us: float, theme: str
) -> dict[str, Any]:
    """What the ``roomy`` ones of bars of one category say inside; nothing where that is nothing for any of them."""
    bars = zip(tiles.tolist(), us.tolist(), roomy.tolist(), strict=True)
    texts = [_text(code, tile, length, px_per_us) if room else "" for tile, length, room in bars]
    if not any(texts):
        return {}
    return {
        "text": texts, "textposition": "inside", "insidetextanchor": "middle", "textangle": 0,
        "insidetextfont": {"size": 10, "color": text_on(colour(code, theme))},
        "constraintext": "none", "cliponaxis": True,
    }  # fmt: skip


def _text(code: int, tile: int, us: float, px_per_us: float) -> str:
    """What a bar has room for: its kind, tile and duration, or the number of its tile if it has one."""
    room = us * px_per_us
    number = str(tile) if tile >= 0 and not is_wait(code) else ""
    words = f"{label(code)}{number and f' {number}'} · {time_text(us, 3)}"
    if room >= LETTER_PX * (len(words) + 2):
        return words
    return number


def _marker(code: int, theme: str, outlined: bool, typical_px: float) -> dict[str, Any]:
    fill = colour(code, theme)
    if outlined:
        return {"color": fill, "opacity": 0.55, "line": {"color": ink(theme).edge, "width": 0.8}}
    # A hairline keeps neighbours of one category apart, once there is room for it, and the thinnest ones visible.
    if typical_px < THIN_PX:
        return {"color": fill, "line": {"color": fill, "width": EDGE_PX}}
    return {"color": fill, "line": {"color": ink(theme).gap, "width": 0.7 if typical_px > 6 else 0}}
