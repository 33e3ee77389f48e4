import numpy as np
import pytest

from gpusim.dashboard.figure.track import Track
from gpusim.timeline import KINDS, TimelineBuilder


def brute_force(track, lanes, low, high):
    line = track.timeline
    wanted = [line.lanes.index(name) for name in lanes]
    start, end = track.start_us + track.shift_us, track.end_us + track.shift_us
    return np.flatnonzero(np.isin(line.lane, wanted) & (start < high) & (end > low))


@pytest.mark.parametrize("window", [(0.0, 1e9), (3.0, 3.4), (10.0, 20.0), (-5.0, 0.1), (1e6, 2e6), (5.0, 5.0001)])
def test_crop_finds_what_a_full_scan_finds(crowd, window):
    lanes = list(crowd.timeline.lanes)[3:17]
    assert np.array_equal(crowd.crop(lanes, *window), brute_force(crowd, lanes, *window))


def test_crop_minds_the_shift(crowd):
    moved = crowd.shifted(7.5)
    lanes = list(crowd.timeline.lanes)
    assert np.array_equal(moved.crop(lanes, 10.0, 11.0), brute_force(moved, lanes, 10.0, 11.0))
    assert np.array_equal(moved.crop(lanes, 10.0, 11.0), crowd.crop(lanes, 2.5, 3.5))


def test_crop_finds_a_long_interval_under_short_ones_on_one_lane():
    # One lane: a long kernel [0, 10] and short ones inside it; at 9 only the long one runs.
    build = TimelineBuilder()
    build.add("stream[1]", "kernel", 0.0, 10e-6)
    for k in range(5):
        build.add("stream[1]", "kernel", k * 1e-6, k * 1e-6 + 0.5e-6)
    track = Track(build.build(), "predicted")
    found = track.crop(["stream[1]"], 8.0, 9.0)
    assert [round(track.end_us[i], 6) for i in found] == [10.0]


def test_an_unknown_lane_and_an_empty_timeline_give_nothing(crowd):
    assert len(crowd.crop(["no such lane"], 0, 1e9)) == 0
    assert len(Track(TimelineBuilder().build(), "predicted").crop([], 0, 1)) == 0


def test_kernels_of_a_stream_at_the_same_time_lie_below_each_other():
    # Two in turn on the first stream, whose waits fill the band; three in a row on the other, of which none overlap.
    build = TimelineBuilder()
    for k in range(4):
        build.add("stream[0]", "kernel", 4e-6 * k, 4e-6 * k + 6e-6)
        build.add("stream[1]", "kernel", 4e-6 * k, 4e-6 * k + 4e-6)
    build.add("stream[0]", "wait", 0.0, 1e-6, reason="launch")
    track = Track(build.build(), "predicted")
    levels, parts = track.levels
    on_first = track.timeline.lane == track.lane_ids["stream[0]"]
    kernels = on_first & (track.timeline.kind == KINDS.index("kernel"))
    assert levels[kernels].tolist() == [0, 1, 0, 1]
    assert parts[kernels].tolist() == [2] * 4
    assert (parts[~kernels] == 1).all()
