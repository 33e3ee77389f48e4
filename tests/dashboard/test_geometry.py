"""Rows, strips and bands in pixels."""

import numpy as np
import pytest

from gpusim.dashboard.figure.geometry import MAX_ROW_PX, Panel, stack_panels
from gpusim.dashboard.figure.lane_list import Row


def row(*lanes, **more):
    return Row(f"/{lanes[0]}", lanes[0], 0, lanes, **more)


def test_few_rows_grow_and_the_figure_ends_with_them():
    few = stack_panels([("predicted", "Predicted", [row("a"), row("b")])], 900)
    assert few.panels[0].row_px == MAX_ROW_PX
    assert few.height_px < 400
    filled = stack_panels([("predicted", "Predicted", [row(f"l{k}") for k in range(9)])], 900)
    assert 900 - 9 <= filled.height_px <= 900


def test_lanes_that_take_turns_have_the_whole_row():
    panel = Panel("predicted", "", [row("cta", "cta.all", merged=True, launching=1), row("x", "y")], row_px=40.0)
    bands = panel.bands()
    assert bands["cta"] == bands["cta.all"]
    assert bands["x"][1] == pytest.approx(bands["cta"][1] / 2)
    edges, strip_of = panel.strips()
    assert strip_of["cta"] == strip_of["cta.all"]
    lanes = panel.lanes_in(strip_of, len(edges) - 1)
    assert [lanes[strip_of[name]] for name in ("cta", "x", "y")] == [1, 1, 1]


@pytest.mark.parametrize(("row_px", "mixed"), [(14.0, True), (60.0, False)])
def test_lanes_too_thin_to_read_are_mixed(row_px, mixed):
    names = [f"l{k}" for k in range(10)]
    panel = Panel("predicted", "", [row(*names, launching=4)], row_px=row_px)
    assert panel.mixed() == (names if mixed else [])
    edges, strip_of = panel.strips()
    assert len(set(strip_of.values())) == (1 if mixed else 10)
    lanes = panel.lanes_in(strip_of, len(edges) - 1)
    assert lanes[strip_of["l0"]] == (6 if mixed else 1)
    assert np.all(np.diff(edges) > 0)
