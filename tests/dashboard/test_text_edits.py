"""Changes of values put into a text, and found in one: comments and layout stay as they are."""

from pathlib import Path

import pytest

from gpusim.dashboard.page.form import form_of
from gpusim.dashboard.page.scenario_text import changed_lines
from gpusim.dashboard.page.text_edits import MOST_LETTERS, changes_between, edited
from gpusim.scenario import load
from gpusim.scenario.overrides import apply_override, parse_assignments, split_path
from gpusim.scenario.yaml_source import parse_yaml

SHIPPED = sorted((Path(__file__).resolve().parents[2] / "scenarios").glob("*.yaml"))
TEXT = """# what it is for
question: "Is it: quick?"
device: h200_sxm   # the usual one
kernel:
  grid: [16, 24]
  rings: {input: {stages: 3, bytes: 16 KiB}}  # stages hide the load
  roles:
    all:
      # one warp for all
      warps: 1
      per_tile: [{acquire: input}, {tma_load: input}]
host:
"""


def with_line(old, new):
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ("kernel.rings.input.stages=4", "stages: 3", "stages: 4"),
        ("kernel.rings.input.bytes=0x4000", "16 KiB", "0x4000"),
        ("kernel.grid.1=32", "24]", "32]"),
        ("kernel.grid=64", "[16, 24]", "64"),
        ("kernel.roles.all.warps=4", "warps: 1", "warps: 4"),
        ("device=b200", "h200_sxm", "b200"),
        ("device.set.sm.clock=1 GHz", "h200_sxm", "{base: h200_sxm, set: {sm.clock: 1 GHz}}"),
        ("kernel.rings.input.first=yes", "16 KiB}", "16 KiB, first: yes}"),
        ("host.threads=2", "host:", "host: {threads: 2}"),
        ("host=2", "host:", "host: 2"),
    ],
)
def test_a_change_is_put_where_its_value_stands(change, old, new):
    assert edited(TEXT, [change]) == with_line(old, new)


def test_a_new_key_of_a_block_stands_below_the_others():
    found = edited(TEXT, ["kernel.roles.all.registers=64"])
    assert found == with_line("tma_load: input}]\n", "tma_load: input}]\n      registers: 64\n")
    assert edited("kernel:\n  grid: 4", ["kernel.tiles=2"]) == "kernel:\n  grid: 4\n  tiles: 2"


def test_several_changes_are_put_one_after_the_other():
    found = edited(TEXT, ["kernel.rings.input.stages=4", "kernel.rings.input.stages=12", "kernel.grid.0=8"])
    assert found == with_line("stages: 3", "stages: 12").replace("[16,", "[8,")


def test_what_cannot_stand_in_its_place_as_typed_is_written_as_yaml_has_it():
    assert edited("a: {b: c}", ["a.b='x: y'"]) == "a: {b: 'x: y'}"
    assert parse_yaml(edited("a: {b: c}", ["a.b=x # y"]), "")[0] == {"a": {"b": "x"}}


def test_what_is_repeated_by_a_name_is_written_out():
    found = edited("a: &one [1, x]  # said twice\nb: *one\n", ["b.0=2"])
    assert found == "a: [1, x]  # said twice\nb: [2, x]\n"


def test_what_has_no_place_of_its_own_makes_the_text_anew():
    found = edited("a:  # of two\n  b: 1\n  c: 2\nd: 3\ne: {}\nf: {g: [1]}\n", ["a=2"])
    assert parse_yaml(found, "")[0] == {"a": 2, "d": 3, "e": {}, "f": {"g": [1]}}


@pytest.mark.parametrize("change", ["nonsense", "a..b=1", "question.x=1", "kernel.grid.7=1"])
def test_what_cannot_be_set_is_left_out(change):
    assert edited(TEXT, [change]) == TEXT


@pytest.mark.parametrize("text", ["", "a: [", "\x00"])
def test_what_cannot_be_read_stays(text):
    assert edited(text, ["a=1"]) == text
    assert changes_between(text, TEXT) is None
    assert changes_between(TEXT, text) is None


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("stages: 3", "stages: 4", "kernel.rings.input.stages=4"),
        ("24]", "2_4]", "kernel.grid.1=2_4"),
        ("16 KiB", "'16 KiB'", "kernel.rings.input.bytes='16 KiB'"),
        ("h200_sxm", "b200", "device=b200"),
    ],
)
def test_another_value_is_a_change_as_it_was_written(old, new, change):
    assert changes_between(TEXT, with_line(old, new)) == (change,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# stages hide the load", "# they do"),
        ("stages: 3", "stages:  4"),  # its blank would be lost
        ("warps: 1", "warps: 1\n      registers: 64"),
        ("quick", "slow"),  # what no change is of
        ("[16, 24]", "[16, 24, 1]"),
        ("stages: 3", "steps: 3"),
        ("warps: 1", "warps:"),
        ("h200_sxm", "{base: h200_sxm}"),
    ],
)
def test_all_else_is_no_change_of_values(old, new):
    assert changes_between(TEXT, with_line(old, new)) is None


def test_a_long_text_is_not_searched():
    long = TEXT + "#" * MOST_LETTERS
    assert changes_between(long, long.replace("stages: 3", "stages: 4")) is None


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_of_every_shipped_scenario_a_field_changes_one_line(path):
    """Where it stands, or behind what is there."""
    text, scenario = path.read_text(), load(path)
    for field in form_of(scenario, scenario, scenario, ()).fields:
        change = f"{field.path}={field.value}1"
        found = edited(text, [change])
        (value,) = parse_assignments([change])[field.path]
        assert parse_yaml(found, "")[0] == apply_override(parse_yaml(text, "")[0], split_path(field.path), value)
        # What is said once and repeated by a name is said twice then.
        assert len(changed_lines(text, found)) == 1 or "&" in text
        assert found.count("#") == text.count("#")
