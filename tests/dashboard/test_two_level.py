"""From a kernel on a stream to its warps: lanes, the way there, and what stays as it is without them."""

import json
from pathlib import Path

import numpy as np
import pytest

from gpusim.dashboard.figure.lane_list import rows_of
from gpusim.dashboard.figure.lane_tree import lane_tree
from gpusim.dashboard.figure.view import Selection
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.details import details_strip
from gpusim.scenario import load, predict
from gpusim.timeline import KINDS
from gpusim.timeline.critical_path import critical_path

FOLDER = Path(__file__).parents[2] / "scenarios"
LANES = (
    "host[0]", "stream[0]", "copy_engine[h2d]",
    *(f"stream[0].kernel[{k}].sm[0].cta[0].{role}" for k in (0, 3) for role in ("producer", "consumer")),
)  # fmt: skip


@pytest.fixture(scope="module")
def case():
    return ScenarioFolder(FOLDER).case(Asked("two_level"))


def test_a_closed_stream_shows_its_own_lane_alone():
    rows = {row.label: row for row in rows_of(lane_tree(LANES))}
    assert rows["stream 0"].lanes == ("stream[0]",)
    assert rows["stream 0"].more == 4
    assert not any("kernel" in label for label in rows)


def test_an_open_stream_has_a_group_for_each_kernel_and_these_their_roles():
    paths = ("/stream[0]", "/stream[0]/kernel[3]/sm[0]/cta[0]")
    labels = [row.label for row in rows_of(lane_tree(LANES), toggled=dict.fromkeys(paths, True))]
    at = labels.index("stream 0")
    assert labels[at + 1 :][:4] == ["kernel 0 · SM 0 · CTA 0", "kernel 3 · SM 0 · CTA 0", "producer", "consumer"]


def test_a_kernel_leads_to_its_warps(case):
    line = case.predicted.timeline
    kernel = int(np.flatnonzero(line.kind == KINDS.index("kernel"))[0])
    strip = details_strip(case, Selection("predicted", kernel), 0.0, "light")
    found = [getattr(part, "data-inside", None) for fact in strip for part in fact._traverse()]
    (paths,) = [json.loads(text) for text in found if text]
    lanes = [name for name in line.lanes if ".kernel[" in name]
    shown = {lane for row in rows_of(lane_tree(line.lanes), toggled=dict.fromkeys(paths, True)) for lane in row.lanes}
    inside = f"{line.lanes[line.lane[kernel]]}.kernel[{max(line.tile[kernel], 0)}].sm[0].cta[0].consumer"
    assert inside in lanes
    assert inside in shown


def test_intervals_keep_their_numbers_and_the_critical_path_stays_outside(case):
    """What lies inside of kernels comes behind everything else."""
    outer = predict(load(FOLDER / "two_level.yaml"))
    line = case.predicted.timeline
    assert len(line) > len(outer)
    assert (line.start_s[: len(outer)] == outer.start_s).all()
    assert list(line.lanes[: len(outer.lanes)]) == list(outer.lanes)
    assert case.critical.index.tolist() == [step.index for step in critical_path(outer).steps]


def test_kernels_told_by_their_time_have_nothing_inside():
    case = ScenarioFolder(FOLDER).case(Asked("own_depth_first"))
    assert not any(".kernel[" in name for name in case.predicted.timeline.lanes)


def test_streams_are_called_what_the_program_calls_them():
    """Beside their numbers, which recordings have as well."""
    case = ScenarioFolder(FOLDER).case(Asked("own_two_level"))
    names = case.predicted.timeline.meta["lane_names"]
    labels = [row.label for row in rows_of(lane_tree(case.predicted.timeline.lanes, called=names))]
    assert "stream 0 · work" in labels
    assert "stream 1 · back" in labels
