"""What a reader could take for idle time: launch overhead, slower CTAs, and what was not recorded."""

import numpy as np
import pytest
from synthetic_timelines import pipeline

from gpusim.dashboard.figure.figures import timeline_figure
from gpusim.dashboard.figure.recorded import ends_of, run_name
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import View
from gpusim.timeline import TimelineBuilder


def named(drawing, name, axis="y"):
    return [t for t in drawing.figure["data"] if t.get("name") == name and t["yaxis"] == axis]


def notes(drawing):
    return [note["text"] for note in drawing.figure["layout"]["annotations"]]


def probed(tiles, of_tiles, *, factor=1.1):
    """Predicted track of all tiles, and a recording of the first ones; its run took ``factor`` of the plain one."""
    whole = pipeline(tiles=of_tiles, source="measured")
    part = pipeline(tiles=tiles, source="measured").with_meta(
        tiles_per_cta=of_tiles, total_s=whole.total_s + 3e-6, instrumented_total_s=factor * (whole.total_s + 3e-6),
        last_stamp_s=whole.total_s,
    )  # fmt: skip
    return Track(pipeline(tiles=of_tiles), "predicted"), Track(part, "measured")


def traced():
    """A host with two calls, 30 µs apart, under a tracer."""
    build = TimelineBuilder()
    build.add("host[0]", "launch", 0.0, 10e-6)
    build.add("host[0]", "wait", 40e-6, 60e-6, "host_sync")
    build.add("stream[0]", "kernel", 5e-6, 55e-6)
    return build.build(source="measured", total_s=50e-6, instrumented_total_s=60e-6)


def test_launch_overhead_is_a_band_from_the_last_work_to_the_end_of_the_run():
    line = pipeline()
    line = line.with_meta(total_s=line.total_s + 3e-6, launch_s=2e-6, lateness_s=1e-6)
    drawing = timeline_figure(Track(line, "predicted"))
    (launch,), (later,) = named(drawing, "launch overhead"), named(drawing, "slower CTAs")
    assert launch["base"][0] + launch["x"][0] == pytest.approx(line.total_s * 1e6)
    assert launch["x"][0] == pytest.approx(2.0)
    assert later["base"][0] + later["x"][0] == pytest.approx(launch["base"][0])
    assert later["base"][0] == pytest.approx(line.span_s[1] * 1e6)
    assert launch["width"][0] == drawing.stack.panels[0].height_px
    assert {"launch overhead", "slower CTAs"} <= {entry.label for entry in drawing.legend}


def test_without_a_launch_there_is_no_band(ring):
    drawing = timeline_figure(*ring)
    assert not named(drawing, "launch overhead")
    assert "launch overhead" not in {entry.label for entry in drawing.legend}


def test_lanes_whose_last_tiles_were_not_kept_are_marked_to_the_end_of_the_work():
    predicted, measured = probed(30, 40)
    drawing = timeline_figure(predicted, measured)
    (left_out,) = named(drawing, "not recorded", "y2")
    assert len(left_out["base"]) == len(drawing.stack.panels[1].lanes())
    ends = np.array(left_out["base"]) + np.array(left_out["x"])
    assert ends == pytest.approx(measured.timeline.meta["last_stamp_s"] * 1e6)
    assert "first 30 of the 40 tiles" in left_out["hovertext"][0]
    assert not named(drawing, "not recorded")


def test_a_lane_that_goes_on_with_another_cta_is_marked_in_between():
    build = TimelineBuilder()
    for start in (0.0, 100e-6):
        for tile in range(4):
            begin = start + tile * 10e-6
            build.add("sm[0].cta[0].worker", "compute", begin, begin + 8e-6, tile=tile)
    meta = {"source": "measured", "max_tiles_recorded": 4, "tiles_per_cta": 8, "total_s": 180e-6}
    line = build.build(**meta, last_stamp_s=170e-6)
    (left_out,) = named(timeline_figure(probed(40, 40)[0], Track(line, "measured")), "not recorded", "y2")
    assert list(left_out["base"]) == pytest.approx([38.0, 138.0])
    assert list(left_out["x"]) == pytest.approx([62.0, 32.0])


def test_lanes_that_were_kept_in_full_are_not_marked():
    assert not named(timeline_figure(*probed(40, 40)), "not recorded", "y2")


def test_a_traced_host_says_what_was_not_recorded_between_its_calls():
    predicted = Track(traced().with_meta(source="predicted"), "predicted")
    measured = Track(traced(), "measured")
    drawing = timeline_figure(predicted, measured)
    (gap,) = named(drawing, "not recorded", "y2")
    assert (gap["base"], gap["x"]) == (pytest.approx([10.0]), pytest.approx([30.0]))
    assert "calls" in gap["hovertext"][0]
    assert not named(drawing, "not recorded")  # a predicted host that does nothing is idle


def test_what_was_not_recorded_cannot_be_clicked_or_hidden():
    drawing = timeline_figure(*probed(30, 40))
    assert "customdata" not in named(drawing, "not recorded", "y2")[0]
    assert [entry.category for entry in drawing.legend if entry.label == "not recorded"] == [-1]


def test_a_recording_is_labelled_with_its_plain_and_its_probed_end():
    predicted, measured = probed(40, 40)
    ends = ends_of(measured)
    assert ends.recorded == pytest.approx(1.1 * ends.plain)
    said = " ".join(notes(timeline_figure(predicted, measured)))
    assert "plain run" in said
    assert "probed run" in said
    assert run_name(traced()) == "traced run"


def test_a_recording_as_long_as_the_plain_runs_has_one_end():
    predicted, measured = probed(40, 40, factor=1.005)
    assert ends_of(measured).recorded is None
    assert all(note.startswith("total") for note in notes(timeline_figure(predicted, measured)))


def test_the_whole_picture_holds_the_end_of_the_probed_run():
    predicted, measured = probed(30, 40, factor=2.0)
    assert timeline_figure(predicted, measured).home_us[1] > ends_of(measured).run


@pytest.mark.parametrize(("factor", "labels"), [(1.02, 1), (1.2, 2), (2.0, 1)])
def test_labels_of_ends_never_lie_over_each_other(factor, labels):
    """Nor over the caption: of a plain run that ends far below the probed one it is told at the end of that."""
    drawing = timeline_figure(*probed(40, 40, factor=factor), View(width=1100))
    measured = [note for note in drawing.figure["layout"]["annotations"] if note["yref"] == "y2"]
    assert len(measured) == labels
