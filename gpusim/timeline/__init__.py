"""Timelines: intervals on lanes, the same type for predicted and measured, and their metrics."""

from gpusim.timeline.recorder import Recorder
from gpusim.timeline.timeline import COLUMNS, Interval, Timeline, TimelineBuilder
from gpusim.timeline.vocabulary import KINDS, REASONS, Kind, Reason

__all__ = ["COLUMNS", "KINDS", "REASONS", "Interval", "Kind", "Reason", "Recorder", "Timeline", "TimelineBuilder"]
