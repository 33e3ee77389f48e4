"""Where the measured side lies on the predicted side's time axis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpusim.dashboard.text import delta_text
from gpusim.dashboard.track import Track
from gpusim.dashboard.view import View
from gpusim.timeline import KINDS, Timeline

__all__ = ["alignment_shift", "from_first_call"]


def _first_start_us(track: Track, kind: str, tile: int | None) -> float | None:
    line = track.timeline
    keep = line.kind == KINDS.index(kind) if kind in KINDS else np.zeros(len(line), dtype=bool)
    if tile is not None:
        keep = keep & (line.tile == tile)
    return float(track.start_us[keep].min()) if keep.any() else None


def from_first_call(timeline: Timeline) -> Timeline:
    """A host's timeline from its first call on: before that a traced host waits for the trace to start."""
    work = timeline.kind != KINDS.index("wait")
    if not any(lane.startswith("host") for lane in timeline.lanes) or not work.any():
        return timeline
    start_s = float(timeline.start_s[work].min())
    clipped = [np.maximum(times, start_s) - start_s for times in (timeline.start_s, timeline.end_s)]
    return replace(timeline, start_s=clipped[0], end_s=clipped[1])


def alignment_shift(predicted: Track, measured: Track | None, view: View) -> tuple[float, str]:
    """How far to move the measured side (µs), and a message where the wish cannot be met."""
    if measured is None:
        return 0.0, ""
    shift, message = 0.0, ""
    if view.align == "event":
        ours = _first_start_us(predicted, view.align_kind, view.align_tile)
        theirs = _first_start_us(measured, view.align_kind, view.align_tile)
        what = f"first {view.align_kind}" + (f" of tile {view.align_tile}" if view.align_tile is not None else "")
        if ours is None or theirs is None:
            sides = [name for name, t in (("predicted", ours), ("measured", theirs)) if t is None]
            message = f"No {what} on the {' and '.join(sides)} side: aligned at the start."
        else:
            shift = ours - theirs
            message = f"Measured moved by {delta_text(shift + view.offset_us)}."
    return shift + view.offset_us, message
