"""A figure that needs no page around it: names of lanes, panels and colours are in it."""

import json

import plotly.graph_objects as go
import pytest

from gpusim.dashboard.figure.figures import timeline_figure
from gpusim.dashboard.figure.standalone import standalone
from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.figure.view import MODES, View


def alone(drawing, heading="Does it fit?", facts="4 warps"):
    return standalone(drawing, heading, facts, {"measured": "2 SMs observed"}, "light")


def words(figure):
    return [note["text"] for note in figure["layout"]["annotations"]]


@pytest.mark.parametrize("mode", MODES)
def test_every_lane_panel_and_colour_is_named(ring, ring_match, mode):
    drawing = timeline_figure(*ring, View(mode=mode), ring_match)
    figure = alone(drawing)
    rows = [row.label for panel in drawing.stack.panels if panel.side != "drift" for row in panel.rows]
    assert set(rows) <= set(words(figure))
    assert all(any(f"<b>{panel.title}</b>" in text for text in words(figure)) for panel in drawing.stack.panels)
    shown = [trace["name"] for trace in figure["data"] if trace.get("showlegend")]
    assert shown == [entry.label for entry in drawing.legend if entry.shown]
    go.Figure(figure)  # plotly takes all of it


def test_the_plot_keeps_its_size(ring):
    """Everything around it is put on: bars are as long and as thick as on the page."""
    drawing = timeline_figure(*ring)
    before, after = drawing.figure["layout"], alone(drawing)["layout"]

    def plot(layout):
        margin = layout["margin"]
        return layout["width"] - margin["l"] - margin["r"], layout["height"] - margin["t"] - margin["b"]

    assert plot(after) == pytest.approx(plot(before))
    assert after["xaxis"] == before["xaxis"]


def test_start_differences_keep_their_scale(ring, ring_match):
    drawing = timeline_figure(*ring, View(mode="difference"), ring_match)
    axis = alone(drawing)["layout"]["yaxis2"]
    assert axis["showticklabels"]
    assert axis["ticktext"] == [text for _, text in drawing.drift_labels]
    assert len(axis["tickvals"]) == len(axis["ticktext"])


def test_words_of_others_are_text(ring):
    """Plotly reads tags and links in its texts."""
    figure = alone(timeline_figure(*ring), heading="<a href='x'>a</a> & b?")
    assert figure["layout"]["title"]["text"] == "&lt;a href=&#x27;x&#x27;&gt;a&lt;/a&gt; &amp; b?"


def test_bins_leave_out_what_only_the_page_can_tell(crowd):
    """The shares of every bin are most of a binned figure."""
    drawing = timeline_figure(Track(crowd.timeline, "predicted"))
    figure = alone(drawing)
    assert drawing.binned
    assert "meta" not in figure["data"][0]
    assert len(json.dumps(figure)) < len(json.dumps(drawing.figure))
