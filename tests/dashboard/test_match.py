import numpy as np
import pytest

from gpusim.dashboard.figure.match import Pair, match_events
from gpusim.timeline import TimelineBuilder


def timeline(rows):
    build = TimelineBuilder()
    for lane, kind, start, end, tile, *stage in rows:
        build.add(lane, kind, start * 1e-6, end * 1e-6, tile=tile, stage=stage[0] if stage else -1)
    return build.build()


def test_the_same_event_is_found_and_its_differences_are_measured_minus_predicted():
    ours = timeline([("a", "compute", 1.0, 2.0, 0), ("a", "compute", 2.0, 3.0, 1)])
    theirs = timeline([("a", "compute", 1.5, 2.7, 0), ("a", "compute", 2.7, 3.5, 1)])
    match = match_events(ours, theirs)
    assert match.of_predicted.tolist() == [0, 1]
    assert match.start_delta_us == pytest.approx([0.5, 0.7])
    assert match.duration_delta_us == pytest.approx([0.2, -0.2])


def test_repetitions_of_a_tile_pair_in_order():
    ours = timeline([("a", "wait", 0, 1, 3), ("a", "wait", 2, 3, 3)])
    theirs = timeline([("a", "wait", 0, 1, 3), ("a", "wait", 4, 6, 3), ("a", "wait", 7, 8, 3)])
    match = match_events(ours, theirs)
    assert match.of_predicted.tolist() == [0, 1]
    assert match.of_measured.tolist() == [0, 1, -1]
    assert len(match) == 2


def test_where_one_side_repeats_a_tile_more_often_the_closest_are_pairs():
    # Two CTAs, one after the other, each issue twice for a tile; the probe has one issue of each.
    ours = timeline([("a", "issue", t, t + d, 5) for t, d in ((8.8, 0.2), (9.0, 0.01), (87.5, 0.2), (87.7, 0.01))])
    theirs = timeline([("a", "issue", 9.7, 9.9, 5), ("a", "issue", 88.7, 88.9, 5)])
    match = match_events(ours, theirs)
    assert len(match) == 2
    paired = match.of_predicted >= 0
    assert np.abs(match.start_delta_us[paired]).max() < 2
    assert match.of_predicted[match.of_measured].tolist() == [0, 1]
    assert match.of_measured[0] < 2 <= match.of_measured[1]


def test_a_tile_in_pieces_is_paired_by_its_stage_and_length_however_late_the_other_side_is():
    """A splinter that lies nearer is none of the stage's work."""
    ours = timeline([("a", "compute", 5.0, 5.54, 5, 1), ("a", "compute", 6.2, 6.21, 5, -1)])
    late = timeline([("a", "compute", 6.3, 7.0, 5, 1)])
    assert match_events(ours, late).of_measured.tolist() == [0]
    without = timeline([("a", "compute", 6.3, 7.0, 5, -1)])
    unnumbered = timeline([("a", "compute", 5.0, 5.54, 5), ("a", "compute", 5.9, 5.91, 5)])
    assert match_events(unnumbered, without).of_measured.tolist() == [0]


PARTS = [("a", "compute", 1, 2, 4, 0), ("a", "barrier", 2, 2.1, 4), ("a", "compute", 2.1, 4.1, 4)]


def test_parts_of_what_the_other_side_tells_as_a_whole_are_one_event():
    """Whichever side has them; a step of another tile in between is none of theirs."""
    parts = timeline([*PARTS, ("a", "compute", 4.1, 4.3, 5), ("a", "compute", 4.3, 5.0, 4)])
    whole = timeline([("a", "compute", 1.5, 5.6, 4, 0)])
    match = match_events(parts, whole)
    assert match.of_predicted.tolist() == [0, -1, 0, -1, 0]
    assert match.duration_delta_us[[0, 2, 4]] == pytest.approx([0.1] * 3)
    assert match.of("predicted", 2) == match.of("measured", 0) == Pair(pytest.approx(0.5), pytest.approx(0.1), 3)
    assert match.beginning(np.arange(5)).tolist() == [0]
    other = match_events(whole, parts)
    assert other.of_measured.tolist() == [0, -1, 0, -1, 0]
    assert other.of("measured", 4) == Pair(pytest.approx(-0.5), pytest.approx(-0.1), 3)


def test_a_wait_parts_events():
    """What comes before it is not of what comes behind it."""
    ours = timeline([("a", "compute", 0, 0.02, 4), ("a", "wait", 0.02, 1, 4), *PARTS])
    match = match_events(ours, timeline([("a", "compute", 1.5, 4.6, 4, 0)]))
    assert match.of_predicted.tolist() == [-1, -1, 0, -1, 0]


def test_a_part_that_is_as_long_as_the_whole_is_it():
    """The rest has no partner."""
    ours = timeline([("a", "compute", 0, 3, 4), ("a", "compute", 3, 4, 4)])
    match = match_events(ours, timeline([("a", "compute", 0.2, 3.3, 4)]))
    assert match.of_predicted.tolist() == [0, -1]


def test_a_long_wait_is_not_paired_with_a_short_one_before_it():
    ours = timeline([("host", "wait", 197, 5929, -1)])
    theirs = timeline([("host", "wait", 0, 0.1, -1), ("host", "wait", 601, 6126, -1), ("host", "wait", 6145, 6156, -1)])
    assert match_events(ours, theirs).of_predicted.tolist() == [1]


def test_other_lanes_kinds_and_tiles_do_not_pair():
    ours = timeline([("a", "compute", 0, 1, 0), ("b", "compute", 0, 1, 0), ("c", "load", 0, 1, 5)])
    theirs = timeline([("a", "store", 0, 1, 0), ("d", "compute", 0, 1, 0), ("c", "load", 0, 1, 6)])
    match = match_events(ours, theirs)
    assert len(match) == 0
    assert np.isnan(match.start_delta_us).all()


def test_lanes_are_matched_by_name_whatever_their_order():
    ours = timeline([("a", "compute", 0, 1, 0), ("b", "compute", 0, 2, 0)])
    theirs = timeline([("b", "compute", 0, 2, 0), ("a", "compute", 0, 1, 0)])
    match = match_events(ours, theirs)
    assert match.duration_delta_us == pytest.approx([0.0, 0.0])


def test_an_empty_side_matches_nothing():
    assert len(match_events(timeline([("a", "compute", 0, 1, 0)]), TimelineBuilder().build())) == 0


def test_a_pair_is_the_same_from_both_sides_and_moves_with_the_alignment():
    ours = timeline([("a", "compute", 1.0, 2.0, 0), ("b", "compute", 0.0, 1.0, 0)])
    theirs = timeline([("a", "store", 0.0, 1.0, 0), ("a", "compute", 1.5, 2.75, 0)])
    match = match_events(ours, theirs)
    assert match.of("predicted", 0) == match.of("measured", 1) == Pair(pytest.approx(0.5), pytest.approx(0.25))
    assert match.of("measured", 1, 0.25) == Pair(pytest.approx(0.75), pytest.approx(0.25))
    assert match.of("predicted", 1) is match.of("measured", 0) is None
