"""Timelines as a Perfetto trace (protobuf): tracks within tracks, as lanes lie, and arrows from cause to effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from gpusim.errors import GpusimError
from gpusim.timeline.export import kernel_names, title_of
from gpusim.timeline.timeline import Timeline
from gpusim.timeline.tracks import Place, places_of, tracks_per_lane

__all__ = ["to_perfetto"]

_NANO = 1e9
_SEQUENCE = 1
"""All packets are of one writer."""
_NUMBER = re.compile(r"(\d+)")


def to_perfetto(timelines: Mapping[str, Timeline]) -> bytes:
    """One process per timeline, a track for each part of a lane's name; times in ns, rounded.

    Slices of a track must lie in each other or apart, so lanes whose intervals overlap have as many tracks of the same
    name as it takes. What released a wait points to it. Raises GpusimError where the package ``perfetto`` is missing.
    """
    try:
        messages = import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    except ImportError as error:
        raise GpusimError("a Perfetto trace takes the package perfetto: pip install 'gpusim[perfetto]'") from error
    writer = _Writer(messages)
    for process, (name, timeline) in enumerate(timelines.items(), start=1):
        writer.write(process, name, timeline)
    return writer.trace.SerializeToString()


class _Writer:
    """Puts timelines into a trace, by Perfetto's ``messages``; tracks and arrows are numbered."""

    def __init__(self, messages: Any) -> None:
        self._messages, self.trace, self._next = messages, messages.Trace(), 1

    def write(self, process: int, name: str, timeline: Timeline) -> None:
        """Write tracks and slices of one timeline."""
        places = places_of(timeline)
        tracks = dict(self._tracks(timeline, places, self._track(name, None, process=process)))
        arrows = self._next
        self._next += len(timeline)
        causes = set(timeline.cause[timeline.cause >= 0].tolist())
        called = kernel_names(timeline)
        for index, place in enumerate(places):
            interval = timeline[index]
            begin = self._event(tracks[place], interval.start_s, "TYPE_SLICE_BEGIN")
            kind = called.get(index, interval.kind)
            begin.name = f"{kind}: {interval.reason}" if interval.reason else kind
            begin.categories.append(interval.kind)
            for key, value in (("tile", interval.tile), ("stage", interval.stage), ("bytes", interval.bytes or -1)):
                if value >= 0:
                    begin.debug_annotations.add(name=key, int_value=value)
            if index in causes:
                begin.flow_ids.append(arrows + index)
            if interval.cause >= 0:
                begin.terminating_flow_ids.append(arrows + interval.cause)
            self._event(tracks[place], interval.end_s, "TYPE_SLICE_END")

    def _tracks(self, timeline: Timeline, places: Iterable[Place], top: int) -> Iterator[tuple[Place, int]]:
        """(place, track), each below those of the parts ahead of its last one."""
        above: dict[str, int] = {"": top}
        most = tracks_per_lane(places)
        for lane, name in sorted(enumerate(timeline.lanes), key=lambda one: _in_order(one[1])):
            parts = name.split(".")
            for depth in range(1, len(parts) + 1):
                path = ".".join(parts[:depth])
                if path not in above:
                    shown = title_of(timeline, path).removeprefix(".".join(parts[: depth - 1])).lstrip(".")
                    above[path] = self._track(shown, above[".".join(parts[: depth - 1])], rank=len(above))
            yield (lane, 0), above[name]
            beside = above[".".join(parts[:-1])]
            for number in range(1, most.get(lane, 1)):
                yield (lane, number), self._track(f"{parts[-1]} ({number + 1})", beside, rank=len(above))

    def _track(self, name: str, parent: int | None, *, process: int = 0, rank: int = 0) -> int:
        track = self.trace.packet.add().track_descriptor
        track.uuid, self._next = self._next, self._next + 1
        track.name = name
        track.child_ordering = self._messages.TrackDescriptor.EXPLICIT
        if parent is None:
            track.process.pid, track.process.process_name = process, name
        else:
            track.parent_uuid, track.sibling_order_rank = parent, rank
        return track.uuid

    def _event(self, track: int, at_s: float, what: str) -> Any:
        packet = self.trace.packet.add()
        packet.timestamp, packet.trusted_packet_sequence_id = round(at_s * _NANO), _SEQUENCE
        packet.track_event.type = self._messages.TrackEvent.Type.Value(what)
        packet.track_event.track_uuid = track
        return packet.track_event


def _in_order(lane: str) -> list[tuple[int, str]]:
    """Lanes as people count them: ``sm[10]`` behind ``sm[2]``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _NUMBER.split(lane)]
