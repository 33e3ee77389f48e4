"""The strip under the timelines: one clicked interval, its partner and its cause."""

from __future__ import annotations

import json

from dash import html

from gpusim.dashboard.figure.palette import colour, label, meaning
from gpusim.dashboard.figure.text import bytes_text, delta_text, time_text
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import Selection
from gpusim.dashboard.page.case import Case
from gpusim.timeline.lane_names import parts_of

__all__ = ["details_strip"]


def _fact(name: str, value: str, note: str = "") -> html.Div:
    body = [html.Div(name, className="card-title"), html.Div(value, className="fact-value")]
    return html.Div([*body, html.Div(note, className="card-detail")] if note else body, className="fact")


def details_strip(case: Case, selected: Selection, shift_us: float, theme: str) -> list[html.Div] | None:
    """Facts of the selected interval, or None when it no longer exists."""
    track = case.predicted if selected.side == "predicted" else case.other
    if track is None or not 0 <= selected.index < len(track.timeline):
        return None
    shift = shift_us if selected.side == "measured" else 0.0
    i = selected.index
    interval = track.timeline[i]
    category = int(track.category[i])
    swatch = html.Span(className="swatch", style={"background": colour(category, theme)})
    start, end = track.start_us[i] + shift, track.end_us[i] + shift
    facts = [
        html.Div(
            [
                html.Div([swatch, label(category)], className="fact-value"),
                html.Div(f"{track.title} · {interval.lane}", className="card-detail", title=meaning(category)),
            ],
            className="fact wide",
        ),
        _fact("Start", f"{start:.3f} µs"),
        _fact("Duration", time_text(end - start)),
    ]
    if interval.tile >= 0:
        stage = f"stage {interval.stage}" if interval.stage >= 0 else ""
        facts.append(_fact("Tile", str(interval.tile), stage))
    if interval.bytes > 0:
        rate = interval.bytes / interval.duration_s / 1e9 if interval.duration_s > 0 else 0.0
        facts.append(_fact("Bytes", bytes_text(interval.bytes), f"{rate:.1f} GB/s"))
    facts += _inside(track, i)
    facts += _partner(case, selected, shift_us)
    facts.append(_cause(track, i, shift))
    return facts


def _inside(track: Track, index: int) -> list[html.Div]:
    """The way into a kernel whose warps have lanes of their own."""
    kernel = track.timeline[index]
    inside = f"{kernel.lane}.kernel[{max(kernel.tile, 0)}]."
    lane = next((name for name in track.timeline.lanes if name.startswith(inside)), "")
    if kernel.kind != "kernel" or not lane:
        return []
    # Groups from the stream down to the first CTA, by the paths of `gpusim.dashboard.figure.lane_tree`.
    parts = [part.text for part in parts_of(lane) if part.name in ("gpu", "stream", "kernel", "sm", "cta")]
    paths = ["/" + "/".join(parts[: depth + 1]) for depth in range(len(parts))]
    button = html.Button(
        "zoom into its warps", className="link", title="Open this kernel's lanes and show its time alone",
        **{"data-inside": json.dumps(paths), "data-start": f"{track.start_us[index]:.6f}",
           "data-end": f"{track.end_us[index]:.6f}"},
    )  # fmt: skip
    return [html.Div([html.Div("Inside", className="card-title"), html.Div(button, className="fact-value")],
                     className="fact")]  # fmt: skip


def _partner(case: Case, selected: Selection, shift_us: float) -> list[html.Div]:
    match = case.match
    if match is None:
        return []
    pair = match.of(selected.side, selected.index, shift_us)
    if pair is None:
        return [_fact(match.difference.capitalize(), "–", "no matching event")]
    long, starts = delta_text(pair.duration_us), delta_text(pair.start_us)
    together = f", {pair.parts} parts together" if pair.parts > 1 else ""
    return [_fact(match.difference.capitalize(), f"{long} long", f"starts {starts}{together}")]


def _cause(track: Track, index: int, shift: float) -> html.Div:
    cause = int(track.timeline.cause[index])
    if cause < 0:
        return _fact("Caused by", "–", "no recorded cause" if track.is_measured else "the lane's own order")
    source = track.timeline[cause]
    where = source.lane + (f", tile {source.tile}" if source.tile >= 0 else "")
    note = f"{where}, ended at {source.end_s * 1e6 + shift:.3f} µs"
    jump = html.Button(
        "go there", className="link", title="Select the interval that caused this one",
        **{"data-jump": "1", "data-side": track.side, "data-index": str(cause),
           "data-start": f"{track.start_us[cause] + shift:.6f}", "data-end": f"{track.end_us[cause] + shift:.6f}"},
    )  # fmt: skip
    return html.Div(
        [html.Div("Caused by", className="card-title"),
         html.Div([label(int(track.category[cause])), " ", jump], className="fact-value"),
         html.Div(note, className="card-detail")],
        className="fact wide",
    )  # fmt: skip
