"""Perfetto traces: tracks as lanes lie, slices that nest, arrows."""

import sys

import pytest

from gpusim.errors import GpusimError
from gpusim.timeline import TimelineBuilder
from gpusim.timeline.perfetto_export import to_perfetto

trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


def read(**timelines):
    """(tracks by uuid, events) of what is written."""
    trace = trace_pb2.Trace()
    trace.ParseFromString(to_perfetto(timelines))
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    return tracks, [packet for packet in trace.packet if packet.HasField("track_event")]


def path(tracks, uuid):
    """Names of a track and of those that it lies in."""
    track = tracks[uuid]
    return (path(tracks, track.parent_uuid) if track.parent_uuid else ()) + (track.name,)


def begins(events):
    return [packet for packet in events if packet.track_event.type == trace_pb2.TrackEvent.TYPE_SLICE_BEGIN]


def line(**meta):
    builder = TimelineBuilder()
    copy = builder.add("sm[0].tma", "copy", 1e-6, 4e-6, tile=3, stage=1, bytes=4096)
    builder.add("sm[0].tma", "copy", 2e-6, 5e-6, tile=4)
    builder.add("sm[0].cta[0].consumer", "wait", 0.0, 4e-6, "stage_empty", cause=copy)
    return builder.build(source="predicted", total_s=5e-6, **meta)


def test_tracks_lie_in_each_other_as_the_parts_of_lanes():
    """A process for each side."""
    tracks, _ = read(predicted=line(), measured=line())
    found = [path(tracks, uuid) for uuid in tracks]
    for side in ("predicted", "measured"):
        assert (side, "sm[0]", "cta[0]", "consumer") in found
        assert (side, "sm[0]", "tma") in found
    assert len(tracks) == len(set(found)) == 12


def test_slices_that_overlap_are_on_tracks_of_their_own():
    """Side by side, under the same SM; each slice ends on its track before the next one begins."""
    tracks, events = read(predicted=line())
    copies = [path(tracks, p.track_event.track_uuid) for p in begins(events) if p.track_event.name == "copy"]
    assert copies == [("predicted", "sm[0]", "tma"), ("predicted", "sm[0]", "tma (2)")]
    open_ = dict.fromkeys(tracks, 0)
    for packet in sorted(events, key=lambda packet: packet.timestamp):
        begin = packet.track_event.type == trace_pb2.TrackEvent.TYPE_SLICE_BEGIN
        open_[packet.track_event.track_uuid] += 1 if begin else -1
        assert open_[packet.track_event.track_uuid] in (0, 1)


def test_times_are_nanoseconds_and_details_are_there():
    """Tile, stage and bytes where they mean something."""
    _, events = read(predicted=line())
    first = next(packet for packet in begins(events) if packet.track_event.name == "copy")
    assert first.timestamp == 1000
    assert {note.name: note.int_value for note in first.track_event.debug_annotations} == {
        "tile": 3, "stage": 1, "bytes": 4096,
    }  # fmt: skip


def test_what_released_a_wait_points_to_it():
    """By a flow that begins at the one and ends at the other."""
    _, events = read(predicted=line())
    flows = {packet.track_event.name: packet.track_event for packet in begins(events)}
    (flow,) = flows["wait: stage_empty"].terminating_flow_ids
    assert [list(p.track_event.flow_ids) for p in begins(events) if p.track_event.flow_ids] == [[flow]]


def test_lanes_have_the_names_of_the_program():
    """Behind what they are."""
    builder = TimelineBuilder()
    builder.add("stream[0]", "kernel", 0.0, 1e-6)
    tracks, _ = read(predicted=builder.build(lane_names={"stream[0]": "copies in"}))
    assert ("predicted", "stream[0] copies in") in [path(tracks, uuid) for uuid in tracks]


def test_without_the_package_it_says_what_to_install(monkeypatch):
    """As the command line prints it."""
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace.perfetto_trace_pb2", None)
    with pytest.raises(GpusimError, match=r"pip install 'gpusim\[perfetto\]'"):
        to_perfetto({"predicted": line()})
