"""Timelines: intervals on lanes, the same type for predicted and measured, and their metrics."""

from gpusim.timeline.recorder import Recorder
from gpusim.timeline.timeline import Interval, Timeline, TimelineBuilder
from gpusim.timeline.vocabulary import KINDS, REASONS, Kind, Reason

__all__ = ["KINDS", "REASONS", "Interval", "Kind", "Reason", "Recorder", "Timeline", "TimelineBuilder"]
