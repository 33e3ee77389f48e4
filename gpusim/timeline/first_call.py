"""Where the timeline of a host program begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpusim.timeline.lane_names import any_host
from gpusim.timeline.timeline import Timeline
from gpusim.timeline.vocabulary import KINDS

__all__ = ["from_first_call"]


def from_first_call(timeline: Timeline) -> Timeline:
    """A host's timeline from its first call on: before that a traced host waits for the trace to start."""
    work = timeline.kind != KINDS.index("wait")
    if not any_host(timeline.lanes) or not work.any():
        return timeline
    start_s = float(timeline.start_s[work].min())
    clipped = [np.maximum(times, start_s) - start_s for times in (timeline.start_s, timeline.end_s)]
    return replace(timeline, start_s=clipped[0], end_s=clipped[1])
