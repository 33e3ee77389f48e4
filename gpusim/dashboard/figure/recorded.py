"""How much of a run the lanes of a side hold, and where its work and the run itself end.

The lanes of a recording are of a run under time stamps or a tracer, which takes longer than the
plain runs whose median is the total. A probe keeps the first tiles of a CTA only.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.dashboard.figure.track import MICRO, Track
from gpusim.timeline import Timeline
from gpusim.timeline.lane_names import any_host

__all__ = ["DISTORTED", "Ends", "ends_of", "overhead_of", "run_name", "tiles_kept"]

DISTORTED = 0.25
"""Overhead of the recorded run from which on its lanes tell the order of events, not how long they take."""
APART = 0.01
"""Distance of the recorded run from the plain one, relative to it, from which on both ends are marked."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Where a side ends, µs without its shift.

    ``plain`` is the claimed total; ``recorded`` the end of the run that the lanes are of, None where it is
    that total or close to it. From ``work`` to ``run`` there is only the overhead of a kernel's launch; lanes may
    end before ``work``.
    """

    plain: float
    recorded: float | None
    work: float
    run: float


def overhead_of(timeline: Timeline | None) -> float | None:
    """By how much the recorded run took longer than the plain ones, relative to them; None where it was not timed."""
    recorded_s = timeline.meta.get("instrumented_total_s") if timeline is not None else None
    return None if recorded_s is None else float(recorded_s) / timeline.total_s - 1.0


def run_name(timeline: Timeline) -> str:
    """What to call the recorded run: kernels write time stamps themselves, host calls are traced."""
    return "traced run" if any_host(timeline.lanes) else "probed run"


def tiles_kept(timeline: Timeline | None) -> tuple[int, int] | None:
    """Tiles of a CTA that were recorded, and all that it has; None where that is every one of them."""
    every = timeline.meta.get("tiles_per_cta") if timeline is not None else None
    kept = int(timeline.tile.max(initial=-1)) + 1 if every else 0
    return (kept, int(every)) if 0 < kept < int(every or 0) else None


def ends_of(track: Track) -> Ends:
    """The ends of a side. Without a launch in its ``meta`` its work ends with the run."""
    meta, plain = track.timeline.meta, track.total_us
    overhead = overhead_of(track.timeline)
    run = plain if overhead is None else plain * (1.0 + overhead)
    work = run
    if meta.get("launch_s"):
        work = plain - float(meta["launch_s"]) * MICRO
    elif meta.get("last_stamp_s"):
        work = float(meta["last_stamp_s"]) * MICRO
    apart = overhead is not None and abs(overhead) > APART
    return Ends(plain, run if apart else None, min(work, run), run)
