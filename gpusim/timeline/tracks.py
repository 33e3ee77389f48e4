"""Tracks side by side that a lane takes where its intervals overlap, such as loads that a warp has under way."""

from __future__ import annotations

from collections.abc import Iterable

from gpusim.timeline.timeline import Timeline

__all__ = ["Place", "places_of", "take_first_free", "tracks_per_lane"]

Place = tuple[int, int]
"""Number of a lane, and of one of its tracks."""
_ROUNDING_S = 1e-12
"""Intervals that overlap by no more than this follow each other."""


def places_of(timeline: Timeline) -> list[Place]:
    """Where each interval is drawn: on the first track of its lane that is free when it starts."""
    ends: dict[int, list[float]] = {}
    columns = zip(timeline.lane.tolist(), timeline.start_s.tolist(), timeline.end_s.tolist(), strict=True)
    return [(lane, take_first_free(ends.setdefault(lane, []), start, end)) for lane, start, end in columns]


def take_first_free(ends: list[float], start: float, end: float) -> int:
    """The first of the tracks, busy until ``ends``, that is free at ``start``; it is busy until ``end`` then.

    All in one unit, of seconds or shorter.
    """
    free = next((number for number, busy in enumerate(ends) if start >= busy - _ROUNDING_S), len(ends))
    ends[free : free + 1] = [end]
    return free


def tracks_per_lane(places: Iterable[Place]) -> dict[int, int]:
    """How many tracks each lane has that has any."""
    most: dict[int, int] = {}
    for lane, track in places:
        most[lane] = max(most.get(lane, 0), track + 1)
    return most
