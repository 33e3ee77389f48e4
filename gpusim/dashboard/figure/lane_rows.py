"""Which lanes of which side a panel shows, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from gpusim.dashboard.figure.lane_list import LanePattern, Row, default_open, rows_of
from gpusim.dashboard.figure.lane_tree import lane_tree
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import View
from gpusim.timeline import KINDS
from gpusim.timeline.lane_names import last_part

__all__ = ["lane_rows"]

LAUNCH = KINDS.index("launch")
_FLOW = {KINDS.index("compute"): 2, KINDS.index("issue"): 1, KINDS.index("load"): 1, KINDS.index("store"): 3}


def lane_rows(
    tracks: Sequence[Track], *, known: Sequence[Track], view: View, pattern: LanePattern, budget: int,
    also_in: Track | None = None,
) -> list[Row]:  # fmt: skip
    """Rows of the lanes of ``tracks``; those that ``also_in`` has as well, where it is given.

    ``known`` are all sides: the order of roles comes from all of them, so that panels agree.
    """
    names = list(dict.fromkeys(name for track in tracks for name in track.used_lanes))
    if also_in is not None:
        shared = set(also_in.used_lanes)
        names = [name for name in names if name in shared]
    alike = {c["lane"]: int(c["sms"]) for t in tracks for c in t.timeline.meta.get("sm_classes", ())}
    stages = set().union(*(track.remember("stages", partial(_stages, track)) for track in tracks))
    places: dict[str, int] = {}
    for track in known:
        places = track.remember("places", partial(_places, track)) | places
    launches = set().union(*(track.remember("launches", partial(_launches, track)) for track in tracks))
    called: dict[str, str] = {}
    for track in known:
        called = track.timeline.meta.get("lane_names", {}) | called
    root = lane_tree(names, stages, alike, places, budget, launches, called)
    return rows_of(root, opened=default_open(root, budget), toggled=view.toggled, pinned=view.pinned, pattern=pattern,
                   launches=launches)  # fmt: skip


def _parts(track: Track) -> Iterator[tuple[str, slice]]:
    bounds = track.bounds
    for name, first, last in zip(track.timeline.lanes, bounds[:-1], bounds[1:], strict=True):
        if last > first:
            yield name, slice(first, last)


def _stages(track: Track) -> set[str]:
    """Lanes ``name[k]`` all of whose intervals are of stage ``k``: stages of a ring."""
    found = set()
    for name, part in _parts(track):
        index = last_part(name).index
        if index.isdigit() and (track.timeline.stage[part] == int(index)).all():
            found.add(name)
    return found


def _launches(track: Track) -> set[str]:
    """Lanes on which nothing but launches happens."""
    return {name for name, part in _parts(track) if (track.timeline.kind[part] == LAUNCH).all()}


def _places(track: Track) -> dict[str, int]:
    """Roles in the order of the data's way: those that mostly fetch, those that compute, those that store."""
    places: dict[str, int] = {}
    for name, part in _parts(track):
        counts = np.bincount(track.timeline.kind[part], minlength=len(KINDS))
        most = max(_FLOW, key=lambda kind: (counts[kind], _FLOW[kind] == 2))
        if counts[most]:
            places.setdefault(last_part(name).text, _FLOW[most])
    return places
