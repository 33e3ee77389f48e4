"""The scenario's text beside a what-if: which of its lines are others than the file's, and where values stand."""

import pytest
import yaml

from gpusim.dashboard.page.scenario_text import changed_lines, lines_at, path_of, plain_breaks, text_of

DATA = {
    "question": "Is it: quick?",
    "device": {"base": "h200_sxm", "set": {"hbm.read_bandwidth": "8 TB/s"}},
    "kernel": {
        "technique": "tma_warp_specialized",
        "params": {"tile_bytes": "16 KiB", "stages": 3, "consumer_warps": 4, "fma_per_element": 16},
    },
    "sweep": {"kernel.params.stages": [1, 2, 3]},
}


def test_long_collections_have_a_line_for_each_value_and_short_ones_one_line():
    text = text_of(DATA)
    assert yaml.safe_load(text) == DATA
    assert "    stages: 3\n" in text
    assert "set: {hbm.read_bandwidth: 8 TB/s}" in text
    assert "kernel.params.stages: [1, 2, 3]" in text


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", ()),
        ("a\nb\nc\n", "a\nx\nc\n", (2,)),
        ("a\nb\nc\n", "a\nb\nnew\nlines\nc\n", (3, 4)),
        ("a\nb\nc\n", "a\nc\n", (2,)),  # what stands where something is gone
        ("a", "", (1,)),
    ],
)
def test_lines_that_are_not_in_the_file_are_changed(before, after, lines):
    assert changed_lines(before, after) == lines


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("kernel.params.tile_bytes", "tile_bytes: 16 KiB"),
        ("device.set.hbm.read_bandwidth", "set: {hbm.read_bandwidth: 8 TB/s}"),
        ("kernel.params.colour", "params:"),  # would stand there
        ("nowhere.at.all", None),
    ],
)
def test_a_path_has_the_line_of_its_value_or_of_what_is_around_it(path, line):
    text = text_of(DATA)
    assert [text.split("\n")[number - 1].strip() for number in lines_at(text, [path])] == ([line] if line else [])


def test_what_is_no_scenario_has_no_lines_for_paths():
    assert lines_at("a: [", ["a"]) == ()
    assert lines_at("", ["a"]) == ()


def test_a_change_names_the_path_that_it_sets():
    assert path_of("device.set.hbm.read_bandwidth=8 TB/s") == "device.set.hbm.read_bandwidth"


def test_line_breaks_are_those_of_a_browser():
    assert plain_breaks("a\r\nb\rc\n") == "a\nb\nc\n"
