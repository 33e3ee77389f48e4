import base64
import json

import numpy as np
import pytest
from synthetic_timelines import dense, pipeline

from gpusim.dashboard.figure.difference import drift_scale, hold_inside
from gpusim.dashboard.figure.figures import BAR_LIMIT, timeline_figure
from gpusim.dashboard.figure.marks import CriticalLine
from gpusim.dashboard.figure.match import match_events
from gpusim.dashboard.figure.palette import categories_of
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import MODES, Selection, View
from gpusim.timeline import KINDS, REASONS, TimelineBuilder

COMPUTE = KINDS.index("compute")
STAGE_EMPTY = len(KINDS) + REASONS.index("stage_empty")


def bars(drawing, axis="y"):
    return [trace for trace in drawing.figure["data"] if trace["type"] == "bar" and trace["yaxis"] == axis]


def kinds(drawing):
    return {trace["type"] for trace in drawing.figure["data"]}


def test_few_intervals_are_bars_and_many_are_bins(crowd):
    assert kinds(timeline_figure(crowd, view=View())) == {"heatmap"}
    narrow = timeline_figure(crowd, view=View(window_us=(10.0, 11.0)))
    assert narrow.intervals <= BAR_LIMIT
    assert not narrow.binned
    assert "bar" in kinds(narrow)


def test_the_switch_is_at_the_limit_exactly():
    def lane(count):
        build = TimelineBuilder()
        for k in range(count):
            build.add("a", "compute", k * 1e-6, (k + 1) * 1e-6)
        return Track(build.build(), "predicted")

    assert not timeline_figure(lane(BAR_LIMIT)).binned
    assert timeline_figure(lane(BAR_LIMIT + 1)).binned


def test_there_is_one_bar_trace_per_category_and_side(ring, ring_match):
    drawing = timeline_figure(*ring, View(), ring_match)
    for axis, track in zip(("y", "y2"), ring, strict=True):
        assert len(bars(drawing, axis)) == len(np.unique(track.category))


def test_bars_are_the_intervals(ring):
    drawing = timeline_figure(*ring)
    drawn = sorted(
        (base, base + x) for trace in bars(drawing) for base, x in zip(trace["base"], trace["x"], strict=True)
    )
    expected = sorted(zip(ring[0].start_us, ring[0].end_us, strict=True))
    assert np.allclose(drawn, expected)


def test_a_bar_says_what_it_has_room_for():
    build = TimelineBuilder()
    build.add("stream[0]", "kernel", 0.0, 300e-6, tile=3)
    build.add("stream[0]", "kernel", 300e-6, 330e-6, tile=4)
    build.add("stream[0]", "kernel", 330e-6, 331e-6, tile=5)
    build.add("host", "wait", 0.0, 330e-6, "host_sync")
    texts = {trace["name"]: trace["text"] for trace in bars(timeline_figure(Track(build.build(), "predicted")))}
    assert texts == {"kernel": ["kernel 3 · 300 µs", "4", ""], "wait: host sync": ["wait: host sync · 330 µs"]}


def test_predicted_stands_above_measured_on_one_axis(ring):
    layout = timeline_figure(*ring).figure["layout"]
    assert layout["yaxis"]["domain"][0] > layout["yaxis2"]["domain"][1]
    assert layout["yaxis"]["anchor"] == layout["yaxis2"]["anchor"] == "x"
    assert layout["xaxis"]["type"] == "linear"


def array(packed):
    """What a typed array of a figure holds."""
    values = np.frombuffer(base64.b64decode(packed["bdata"]), np.dtype(packed["dtype"]))
    return values.reshape([int(n) for n in packed["shape"].split(",")]) if "shape" in packed else values


def repeated(pattern, times):
    """A lane on which ``pattern`` (kind, µs, reason) repeats."""
    build, now = TimelineBuilder(), 0.0
    for _ in range(times):
        for kind, us, *reason in pattern:
            build.add("a", kind, now, now + us * 1e-6, *reason)
            now += us * 1e-6
    return build


WORK = [("compute", 3.0), ("wait", 1.0, "stage_empty")]


def test_shares_of_a_bin_are_its_heights_and_its_hover():
    # Every bin is three quarters computing, which lies below the waiting.
    drawing = timeline_figure(Track(repeated(WORK, 3000).build(), "predicted"), view=View(width=300))
    trace = drawing.figure["data"][0]
    [part] = trace["meta"]["parts"]
    assert part["labels"] == ["compute", "wait: no filled stage"]
    strips, z = np.array(trace["meta"]["strips"]), array(trace["z"])
    middle = z.shape[1] // 2
    column = z[strips == 1, middle]
    assert column.tolist() == sorted(column, reverse=True)
    assert np.mean(column == 1) == pytest.approx(0.75, abs=0.03)
    shares = array(part["mixes"][0])[1, middle]
    assert shares[0] == pytest.approx(75, abs=2)
    assert shares.sum() == 100


def test_intervals_that_can_be_told_apart_are_no_heights():
    build = repeated(WORK, 40)
    for k in range(BAR_LIMIT):
        build.add("b", "compute", k * 0.08e-6, (k + 0.5) * 0.08e-6)
    trace = timeline_figure(Track(build.build(), "predicted")).figure["data"][0]
    levels = np.bincount(trace["meta"]["strips"])
    names = trace["meta"]["rows"]
    assert levels[names.index("a")] == 1
    assert levels[names.index("b")] > 10


def test_hovering_over_a_binned_difference_tells_all_classes_and_both_sides():
    sides = []
    for compute_us, side in ((3.0, "predicted"), (2.0, "measured")):
        line = repeated([("compute", compute_us), ("wait", 4.0 - compute_us, "stage_empty")], 1500)
        sides.append(Track(line.build(source=side), side))
    match = match_events(sides[0].timeline, sides[1].timeline)
    drawing = timeline_figure(*sides, View(mode="difference", width=200), match)
    assert drawing.binned
    classes, kinds = drawing.figure["data"][0]["meta"]["parts"]
    shares = array(classes["mixes"][0])[1]
    middle = shares[len(shares) // 2]
    assert (middle > 0).sum() == 2  # computing shorter, waiting longer: no class hides the other
    ours, theirs = (array(mix)[1, len(shares) // 2] for mix in kinds["mixes"])
    place = kinds["labels"].index("compute")
    assert ours[place] == pytest.approx(75, abs=3)
    assert theirs[place] == pytest.approx(50, abs=3)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_is_plain_data_and_needs_no_window(ring, ring_match, mode):
    drawing = timeline_figure(*ring, View(mode=mode), ring_match)
    assert json.loads(json.dumps(drawing.figure))
    assert drawing.figure["layout"]["height"] == drawing.stack.height_px


def test_overlay_puts_the_measured_bar_under_the_predicted_one_in_the_same_lane(ring, ring_match):
    drawing = timeline_figure(*ring, View(mode="overlay"), ring_match)
    computing = [trace for trace in bars(drawing) if trace["name"] == "compute"]
    of = {trace["customdata"][0][0]: trace for trace in computing}
    assert of["measured"]["y"][0] > of["predicted"]["y"][0]
    assert of["measured"]["width"][0] < of["predicted"]["width"][0]
    assert of["measured"]["marker"]["line"]["width"] > 0


def test_difference_bars_are_coloured_by_the_sign_of_the_difference():
    ours, theirs = pipeline(tiles=12), pipeline(tiles=12, compute_us=0.5, source="measured")
    tracks = Track(ours, "predicted"), Track(theirs, "measured")
    match = match_events(ours, theirs)
    drawing = timeline_figure(*tracks, View(mode="difference"), match)
    place = {i: t["name"] for t in bars(drawing) for i in (c[1] for c in t["customdata"])}
    computing = [i for i in range(len(ours)) if ours[i].kind == "compute"]
    assert all(place[i].startswith(">") for i in computing)


def test_an_offset_moves_the_measured_side_alone(ring):
    still, moved = timeline_figure(*ring), timeline_figure(*ring, View(offset_us=2.5))
    assert bars(still)[0]["base"] == bars(moved)[0]["base"]
    assert np.allclose(np.array(bars(still, "y2")[0]["base"]) + 2.5, bars(moved, "y2")[0]["base"])


def test_alignment_at_an_event_puts_both_first_events_at_one_time(ring):
    drawing = timeline_figure(*ring, View(align="event", align_kind="compute", align_tile=5))
    starts = []
    for axis, track in zip(("y", "y2"), ring, strict=True):
        trace = next(t for t in bars(drawing, axis) if t["name"] == "compute")
        tile = track.timeline.tile[[c[1] for c in trace["customdata"]]]
        starts.append(np.array(trace["base"])[tile == 5].min())
    assert starts[0] == pytest.approx(starts[1])


def test_an_alignment_that_is_impossible_says_so_and_changes_nothing(ring):
    drawing = timeline_figure(*ring, View(align="event", align_kind="kernel"))
    assert "No first kernel" in drawing.messages[0]
    assert bars(drawing, "y2")[0]["base"] == bars(timeline_figure(*ring), "y2")[0]["base"]


def test_a_hidden_category_is_not_drawn_but_stays_in_the_legend(ring):
    drawing = timeline_figure(*ring, View(hidden=frozenset({COMPUTE})))
    assert "compute" not in {trace["name"] for trace in bars(drawing)}
    assert [entry.shown for entry in drawing.legend if entry.category == COMPUTE] == [False]


def test_rows_that_mix_lanes_may_have_nothing_in_sight():
    build = TimelineBuilder()
    for k in range(20):
        build.add(f"sm[0].cta[{k}].worker", "compute", 0.0, 1e-6)
    build.add("sm[0].tma", "transfer", 0.0, 1e-6)
    track = Track(build.build(), "predicted")
    closed = timeline_figure(track, view=View(toggled={"/sm[0]": False}))
    assert "heatmap" in kinds(closed)
    assert json.dumps(
        timeline_figure(track, view=View(toggled={"/sm[0]": False}, hidden=frozenset(track.present))).figure
    )


def test_a_bad_search_shows_a_message_and_all_lanes(ring):
    drawing = timeline_figure(*ring, View(pattern="(("))
    assert drawing.pattern_error
    assert drawing.stack.panels[0].lanes() == timeline_figure(*ring).stack.panels[0].lanes()


def test_a_search_without_a_hit_says_so(ring):
    assert "No lane matches" in timeline_figure(*ring, View(pattern="zzz")).messages[0]


def test_hover_tells_the_difference_to_the_matched_event(ring, ring_match):
    drawing = timeline_figure(*ring, View(), ring_match)
    trace = next(t for t in bars(drawing) if t["name"] == "copy in flight")
    text, index = trace["hovertext"][3], trace["customdata"][3][1]
    assert "16 KiB" in text
    assert f"tile {ring[0].timeline.tile[index]}" in text
    assert "measured − predicted: start" in text


def test_a_wait_names_its_reason(ring):
    codes = categories_of(ring[0].timeline.kind, ring[0].timeline.reason)
    assert STAGE_EMPTY in codes
    trace = next(t for t in bars(timeline_figure(*ring)) if t["name"] == "wait: no filled stage")
    assert "reason stage_empty" in trace["hovertext"][0]


def test_a_selected_wait_gets_a_frame_its_cause_another_and_an_arrow_between(ring):
    wait = next(i for i in range(len(ring[0].timeline)) if ring[0].timeline.cause[i] >= 0)
    plain, chosen = timeline_figure(*ring), timeline_figure(*ring, View(selected=Selection("predicted", wait)))
    more = [len(chosen.figure["layout"][k]) - len(plain.figure["layout"][k]) for k in ("shapes", "annotations")]
    assert more == [2, 1]


def test_the_critical_path_is_one_line(ring):
    critical = CriticalLine(np.array([0, 5]), ring[0].start_us[[0, 5]], ring[0].end_us[[0, 5]])
    drawing = timeline_figure(*ring, View(critical=True), None, critical)
    line = drawing.figure["data"][-1]
    assert line["mode"] == "lines"
    assert len(line["x"]) == 4


def test_the_critical_path_goes_through_the_row_of_warps_that_are_folded_into_their_role():
    build = TimelineBuilder()
    for lane in ("consumer", "consumer.warp[4]"):
        build.add(f"sm[0].cta[0].{lane}", "compute", 0.0, 1e-6)
    track = Track(build.build(), "predicted")
    drawing = timeline_figure(track, None, View(critical=True), None, CriticalLine(np.array([0, 1]), *np.eye(2)))
    assert len(set(drawing.figure["data"][-1]["y"])) == 1
    assert len(drawing.figure["data"][-1]["x"]) == 4


def test_without_a_measurement_every_mode_shows_the_prediction(ring):
    for mode in MODES:
        assert len(timeline_figure(ring[0], None, View(mode=mode)).stack.panels) == 1


def test_an_empty_timeline_draws_empty_panels():
    empty = Track(TimelineBuilder().build(source="predicted", total_s=1e-6), "predicted")
    drawing = timeline_figure(empty, empty)
    assert drawing.intervals == 0
    assert json.dumps(drawing.figure)


@pytest.mark.parametrize("asked", [(1e6, 2e6), (-200.0, -100.0)])
def test_a_window_outside_of_everything_shows_everything(ring, asked):
    drawing = timeline_figure(*ring, View(window_us=asked))
    assert drawing.window_us == drawing.home_us
    assert drawing.intervals


def test_a_window_ends_where_everything_does(ring):
    home = timeline_figure(*ring).home_us
    middle = sum(home) / 2
    assert timeline_figure(*ring, View(window_us=(middle, 1e9))).window_us == (middle, home[1])


def test_a_large_picture_stays_small_on_the_wire():
    track = Track(dense(300_000), "predicted")
    assert len(json.dumps(timeline_figure(track, track).figure)) < 3_000_000


def test_rows_of_the_figure_and_of_the_lane_list_have_one_height(ring):
    drawing = timeline_figure(*ring)
    for panel in drawing.stack.panels:
        low, high = drawing.figure["layout"]["yaxis" + panel.axis[1:]]["domain"]
        inner = drawing.figure["layout"]["height"] - 24 - 34
        assert (high - low) * inner == pytest.approx(panel.height_px)


def test_a_few_points_far_away_do_not_flatten_the_start_differences():
    near = {"y": [0.0, *np.linspace(-1, 2, 200).tolist(), -6000.0], "marker": {"size": 5}, "yaxis": "y2"}
    (low, high), _ = drift_scale([near])
    assert -10 < low <= -1
    assert 2 <= high < 10
    held = hold_inside(near, low, high)
    assert held["y"][:-1] == pytest.approx(near["y"][:-1])
    assert low < held["y"][-1] < low + 0.1 * (high - low)
    assert held["marker"]["symbol"][-1] == "triangle-down"
    assert set(held["marker"]["symbol"][:-1]) == {"circle"}
    (low, high), _ = drift_scale([{"y": [0.0, 3.0]}])
    assert low < 0
    assert high > 3


def test_the_label_of_a_short_side_stands_behind_its_end():
    """In the header it would lie on the caption; that of the long side is right of it, and in its header."""
    long, short = Track(pipeline(tiles=60), "predicted"), Track(pipeline(tiles=12, source="measured"), "measured")
    for wide, narrow in ((long, short), (short, long)):
        drawn = timeline_figure(wide, narrow).figure["layout"]["annotations"]
        places = {note["text"]: (note["xanchor"], note["yanchor"]) for note in drawn}
        assert sorted(places.values()) == [("left", "top"), ("right", "bottom")]
        brief = min(drawn, key=lambda note: note["x"])
        assert (brief["xanchor"], brief["y"]) == ("left", 0)
    # Both are told above the lanes where both sides are in them.
    both = timeline_figure(long, short, View(mode="overlay")).figure["layout"]["annotations"]
    assert {note["xanchor"] for note in both} == {"right"}
