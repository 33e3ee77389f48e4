"""What lies over the bars: ends of the kernel, the critical path, the clicked interval and its cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpusim.dashboard.figure.geometry import Panel
from gpusim.dashboard.figure.palette import ink
from gpusim.dashboard.figure.recorded import ends_of, run_name
from gpusim.dashboard.figure.text import even_text
from gpusim.dashboard.figure.track import Track
from gpusim.timeline.lane_names import above

__all__ = ["CriticalLine", "critical_trace", "end_marks", "selection_marks"]

MOST_POINTS = 3000
LABEL_PX = 130
"""Room that the label of an end needs."""
HEADER_LABELS_PX = 270
"""Room on the right of a panel's header that its caption leaves to labels, as in style.css."""
LETTER_PX = 6.2
"""Room of a letter of a label, about."""


@dataclass(frozen=True, slots=True)
class CriticalLine:
    """The critical path as it is drawn: interval indices with the part of each that counts, µs."""

    index: np.ndarray
    start_us: np.ndarray
    end_us: np.ndarray


def end_marks(
    panel: Panel, track: Track, other: Track | None, theme: str, *, px_per_us: float, window_us: tuple[float, float],
    both: bool = False,
) -> tuple[list[dict], list[dict]]:  # fmt: skip
    """Lines where this side ends, labelled in the panel's header, and a faint one for the other side.

    A recording ends twice: its plain runs took the total, the run of its lanes longer. ``both`` labels the
    totals of both sides, for a panel that shows them. The label of a side that ends under the header's caption stands
    behind its end, where its lanes are empty. ``window_us``: what is in sight.
    """
    tones = ink(theme)
    ends, shift = ends_of(track), track.shift_us
    shapes = [_vertical(panel, ends.plain + shift, tones.edge, "solid", 1.2)]
    labels = [(ends.plain + shift, f"{'total' if ends.recorded is None else 'plain run'} {even_text(ends.plain)}")]
    if ends.recorded is not None:
        shapes.append(_vertical(panel, ends.recorded + shift, tones.edge, "dash", 1.2))
        labels.append((ends.recorded + shift, f"{run_name(track.timeline)} {even_text(ends.recorded)}"))
    if other is not None:
        end = other.total_us + other.shift_us
        shapes.append(_vertical(panel, end, tones.dim, "dot", 1.0))
        if both:
            labels = [(ends.plain + shift, f"{track.side} {even_text(ends.plain)}"),
                      (end, f"{other.side} {even_text(other.total_us)}")]  # fmt: skip
    labels = _apart(labels, LABEL_PX / px_per_us)
    width = (window_us[1] - window_us[0]) * px_per_us
    places = [(x - window_us[0]) * px_per_us for x, _ in labels]
    if len(labels) == 2 and not both and places[0] < width - HEADER_LABELS_PX:
        # Behind the first end lie the lanes of the longer run.
        labels, places = [(labels[1][0], ", ".join(text for _, text in labels))], places[1:]
    return shapes, [
        _end_label(panel, x, text, tones.text, behind=not both and _under_caption(place, text, width))
        for (x, text), place in zip(labels, places, strict=True)
    ]


def _apart(labels: list[tuple[float, str]], least_us: float) -> list[tuple[float, str]]:
    """Labels that would lie over each other as one, at the last of them."""
    labels = sorted(labels)
    if len(labels) == 2 and labels[1][0] - labels[0][0] < least_us:
        return [(labels[1][0], ", ".join(text for _, text in labels))]
    return labels


def _under_caption(place_px: float, text: str, width_px: float) -> bool:
    """Whether a label that ends there would lie where the caption may be, and has room behind its end instead."""
    room = LETTER_PX * len(text)
    return place_px - room < width_px - HEADER_LABELS_PX and place_px + room < width_px


def _end_label(panel: Panel, x: float, text: str, colour: str, *, behind: bool) -> dict[str, Any]:
    place = {"yanchor": "bottom", "xanchor": "right", "yshift": 2}
    if behind:
        place = {"yanchor": "top", "xanchor": "left", "xshift": 3, "yshift": 0}
    return {
        "xref": "x", "yref": panel.axis, "x": x, "y": 0, **place,
        "text": text, "showarrow": False, "font": {"size": 11, "color": colour},
    }  # fmt: skip


def _vertical(panel: Panel, x: float, colour: str, dash: str, width: float) -> dict[str, Any]:
    return {
        "type": "line", "xref": "x", "yref": panel.axis, "x0": x, "x1": x, "y0": 0, "y1": panel.height_px,
        "line": {"color": colour, "width": width, "dash": dash}, "layer": "above",
    }  # fmt: skip


def critical_trace(
    track: Track, critical: CriticalLine, panel: Panel, low_us: float, high_us: float, theme: str
) -> dict:
    """The critical path as one line from interval to interval, cut to the window."""
    centre = _centres(panel, track.timeline.lanes)[track.timeline.lane[critical.index]]
    keep = np.flatnonzero((critical.end_us >= low_us) & (critical.start_us <= high_us) & np.isfinite(centre))
    if len(keep) > MOST_POINTS:
        keep = keep[np.linspace(0, len(keep) - 1, MOST_POINTS).astype(np.int64)]
    x = np.stack([critical.start_us[keep], critical.end_us[keep]], axis=1).ravel() + track.shift_us
    return {
        "type": "scatter", "mode": "lines", "x": x.tolist(), "y": np.repeat(centre[keep], 2).tolist(),
        "xaxis": "x", "yaxis": panel.axis, "line": {"color": ink(theme).accent, "width": 2},
        "hoverinfo": "skip", "showlegend": False, "name": "critical path",
    }  # fmt: skip


def _centres(panel: Panel, lanes: Sequence[str]) -> np.ndarray:
    """The middle of each lane's row; of a warp that is folded into its role, the role's; NaN for what is not shown."""
    centres = panel.places(lanes)[0].copy()
    number = {lane: i for i, lane in enumerate(lanes)}
    for i in np.flatnonzero(~np.isfinite(centres)):
        role = number.get(above(lanes[i]))
        if role is not None:
            centres[i] = centres[role]
    return centres


def selection_marks(track: Track, index: int, panel: Panel, theme: str) -> tuple[list[dict], list[dict]]:
    """A frame round the clicked interval and round its cause, and an arrow between the two."""
    tones = ink(theme)
    bands = panel.bands()
    line = track.timeline

    def frame(i: int, colour: str, dash: str) -> dict[str, Any] | None:
        band = bands.get(line.lanes[line.lane[i]])
        if band is None:
            return None
        centre, thick = band
        return {
            "type": "rect", "xref": "x", "yref": panel.axis, "x0": float(track.start_us[i]) + track.shift_us,
            "x1": float(track.end_us[i]) + track.shift_us, "y0": centre - thick / 2, "y1": centre + thick / 2,
            "line": {"color": colour, "width": 2, "dash": dash}, "layer": "above",
        }  # fmt: skip

    shapes = [frame(index, tones.accent, "solid")]
    cause = int(line.cause[index])
    arrows: list[dict[str, Any]] = []
    if cause >= 0:
        shapes.append(frame(cause, tones.accent, "dot"))
        if shapes[0] is not None and shapes[1] is not None:
            arrows.append(_arrow(shapes[1], shapes[0], panel, tones.accent))
    return [s for s in shapes if s], arrows


def _arrow(cause: dict[str, Any], effect: dict[str, Any], panel: Panel, colour: str) -> dict[str, Any]:
    """An arrow from the end of the cause to the nearest time inside its effect; both are frames."""
    return {
        "xref": "x", "yref": panel.axis, "axref": "x", "ayref": panel.axis, "text": "", "showarrow": True,
        "x": min(effect["x1"], max(effect["x0"], cause["x1"])), "y": (effect["y0"] + effect["y1"]) / 2,
        "ax": cause["x1"], "ay": (cause["y0"] + cause["y1"]) / 2,
        "arrowhead": 2, "arrowsize": 1.1, "arrowwidth": 2, "arrowcolor": colour,
    }  # fmt: skip
