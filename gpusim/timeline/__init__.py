"""Timelines: intervals on lanes, the same type for predicted and measured, and their metrics."""

from gpusim.timeline.recorder import Recorder
from gpusim.timeline.timeline import KINDS, REASONS, Interval, Timeline, TimelineBuilder

__all__ = ["KINDS", "REASONS", "Interval", "Recorder", "Timeline", "TimelineBuilder"]
