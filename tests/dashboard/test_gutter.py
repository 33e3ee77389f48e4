"""The lane list: counts of warps, notes of panels, labels of start differences."""

import pytest

from gpusim.dashboard.figure.figures import timeline_figure
from gpusim.dashboard.figure.match import match_events
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import View
from gpusim.dashboard.page.gutter import gutter_rows
from gpusim.timeline import TimelineBuilder


def texts(component):
    """All text in a tree of components."""
    if isinstance(component, list | tuple):
        return " ".join(map(texts, component))
    return component if isinstance(component, str) else texts(getattr(component, "children", None) or "")


@pytest.fixture
def role():
    build = TimelineBuilder()
    for lane in ("consumer", "consumer.warp[2]", "consumer.warp[4]", "producer"):
        build.add(f"sm[0].cta[0].{lane}", "compute", 0.0, 1e-6)
    return Track(build.build(), "predicted")


def test_a_closed_role_says_how_many_warps_it_has_not_how_many_lanes(role):
    drawing = timeline_figure(role)
    assert "4 warps" in texts(gutter_rows(drawing, None, {"consumer": 4, "producer": 1}))
    assert "+2 lanes" in texts(gutter_rows(drawing))


def test_a_panel_says_that_it_is_binned(crowd):
    assert "binned: heights" in texts(gutter_rows(timeline_figure(crowd)))
    assert "binned" not in texts(gutter_rows(timeline_figure(crowd, view=View(window_us=(10.0, 11.0)))))


def test_a_binned_panel_without_heights_promises_none():
    build = TimelineBuilder()
    for lane in range(6):
        for k in range(400):
            build.add(f"lane{lane}", "compute", k * 1e-6, (k + 0.9) * 1e-6)
    said = texts(gutter_rows(timeline_figure(Track(build.build(), "predicted"))))
    assert "binned: hover" in said
    assert "heights" not in said


def test_start_differences_are_labelled_beside_their_panel(ring, ring_match):
    drawing = timeline_figure(*ring, View(mode="difference"), ring_match)
    panel = drawing.stack.panels[1]
    axis = drawing.figure["layout"]["yaxis2"]
    assert not axis["showticklabels"]
    low, high = axis["range"]
    for value, (place_px, text) in zip(axis["tickvals"], drawing.drift_labels, strict=True):
        assert low <= value <= high
        assert 0 <= place_px <= panel.height_px
        assert text in texts(gutter_rows(drawing))


def test_arrows_at_the_edge_of_the_start_differences_are_explained():
    sides = []
    for late_us, side in ((0.0, "predicted"), (900.0, "measured")):
        build = TimelineBuilder()
        for k in range(200):
            build.add("a", "compute", k * 1e-6, (k + 0.5) * 1e-6, tile=k)
        build.add("b", "compute", late_us * 1e-6, (late_us + 1) * 1e-6, tile=0)
        sides.append(Track(build.build(source=side), side))
    match = match_events(sides[0].timeline, sides[1].timeline)
    view = View(mode="difference")
    assert "beyond this scale" in texts(gutter_rows(timeline_figure(*sides, view, match)))
    assert "beyond this scale" not in texts(gutter_rows(timeline_figure(*sides, View(), match)))
