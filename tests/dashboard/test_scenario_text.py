"""The scenario's text beside a what-if: one value a line, and which lines are changed or wrong."""

import pytest
import yaml

from gpusim.dashboard.page.scenario_text import path_of, text_lines, text_of, with_changes

DATA = {
    "question": "Is it: quick?",
    "device": {"base": "h200_sxm", "set": {"hbm.read_bandwidth": "8 TB/s"}},
    "kernel": {
        "technique": "tma_warp_specialized",
        "params": {"tile_bytes": "16 KiB", "stages": 3, "consumer_warps": 4, "fma_per_element": 16},
    },
    "sweep": {"kernel.params.stages": [1, 2, 3]},
}


def marked(lines, mark):
    return [line.children.strip() for line in lines if mark in line.className.split()]


def test_long_collections_have_a_line_for_each_value_and_short_ones_one_line():
    text = text_of(DATA)
    assert yaml.safe_load(text) == DATA
    assert "    stages: 3\n" in text
    assert "set: {hbm.read_bandwidth: 8 TB/s}" in text
    assert "kernel.params.stages: [1, 2, 3]" in text


def test_lines_of_changed_and_of_wrong_values_are_marked():
    lines = text_lines(text_of(DATA), ["kernel.params.stages"], ["kernel.params.tile_bytes"])
    assert [line.children for line in lines] == text_of(DATA).splitlines()
    assert marked(lines, "changed") == ["stages: 3"]
    assert marked(lines, "wrong-line") == ["tile_bytes: 16 KiB"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("device.set.hbm.read_bandwidth", "set: {hbm.read_bandwidth: 8 TB/s}"),
        ("kernel.params.colour", "params:"),
        ("nowhere.at.all", None),
    ],
)
def test_what_has_no_line_of_its_own_is_marked_where_it_would_stand(path, line):
    assert marked(text_lines(text_of(DATA), wrong=[path]), "wrong-line") == ([line] if line else [])


def test_a_wrong_value_that_is_changed_too_is_wrong():
    lines = text_lines(text_of(DATA), ["kernel.params.stages"], ["kernel.params.stages"])
    assert marked(lines, "wrong-line") == ["stages: 3"]
    assert marked(lines, "changed") == []


def test_changes_are_shown_that_nobody_has_checked():
    text = with_changes(text_of(DATA), ["kernel.params.stages=99", "device=b200", "question.x=1", "nonsense", "a..b=1"])
    found = yaml.safe_load(text)
    assert found["kernel"]["params"]["stages"] == 99
    assert (found["device"], found["question"]) == ("b200", DATA["question"])


def test_a_change_names_the_path_that_it_sets():
    assert path_of("device.set.hbm.read_bandwidth=8 TB/s") == "device.set.hbm.read_bandwidth"
    assert text_lines("") == []
