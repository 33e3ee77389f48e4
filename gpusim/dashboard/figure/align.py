"""Where the measured side lies on the predicted side's time axis."""

from __future__ import annotations

import numpy as np

from gpusim.dashboard.figure.text import delta_text
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import View
from gpusim.timeline import KINDS

__all__ = ["alignment_shift"]


def _first_start_us(track: Track, kind: str, tile: int | None) -> float | None:
    line = track.timeline
    keep = line.kind == KINDS.index(kind) if kind in KINDS else np.zeros(len(line), dtype=bool)
    if tile is not None:
        keep = keep & (line.tile == tile)
    return float(track.start_us[keep].min()) if keep.any() else None


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
            sides = [name for name, t in ((predicted.title, ours), (measured.title, theirs)) if t is None]
            message = f"No {what} on the {' and '.join(sides)} side: aligned at the start."
        else:
            shift = ours - theirs
            message = f"{measured.title.capitalize()} moved by {delta_text(shift + view.offset_us)}."
    return shift + view.offset_us, message
