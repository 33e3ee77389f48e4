"""Dotted overrides and the sweeps they make."""

import pytest

from gpusim.errors import GpusimError, ScenarioError
from gpusim.scenario import loads, with_overrides
from gpusim.scenario.overrides import apply_override, grid_points, parse_assignments, split_path


def test_values_are_read_as_in_a_file():
    """Numbers, text with units, lists."""
    assert parse_assignments(["a.b=4", "c=16 KiB", "d=[1, 2]", "e=true"]) == {
        "a.b": [4], "c": ["16 KiB"], "d": [[1, 2]], "e": [True],
    }  # fmt: skip


def test_comma_makes_a_list_of_values_to_try():
    """Commas inside brackets and quotes do not."""
    assert parse_assignments(["a=1,2,4"]) == {"a": [1, 2, 4]}
    assert parse_assignments(["a=[1,2],[3]"]) == {"a": [[1, 2], [3]]}
    assert parse_assignments(["a='x,y'"]) == {"a": ["x,y"]}


@pytest.mark.parametrize("text", ["", "a", "=1", "a..b", "a=[", "a={b: "])
def test_malformed_assignment_is_an_error(text):
    """With a message, not a traceback."""
    with pytest.raises(GpusimError):
        [split_path(path) for path in parse_assignments([text])]


def test_device_quantities_keep_their_dots():
    """Below device.set the rest is one key."""
    assert split_path("device.set.hbm.read_bandwidth") == ("device", "set", "hbm.read_bandwidth")
    assert apply_override({"device": "h200"}, ("device", "set", "a.b"), 1) == {
        "device": {"base": "h200", "set": {"a.b": 1}}
    }


def test_override_copies_only_along_its_path():
    """The original stays as it is."""
    data = {"a": [{"b": 1}, {"b": 2}], "c": {}}
    changed = apply_override(data, ("a", 1, "b"), 5)
    assert changed == {"a": [{"b": 1}, {"b": 5}], "c": {}}
    assert data["a"][1] == {"b": 2}
    assert changed["c"] is data["c"]


def test_error_in_an_override_names_the_override(spelled):
    """Not a line of the file, which is right."""
    with pytest.raises(ScenarioError, match=r"^--set kernel.gird: unknown key .*'grid'"):
        with_overrides(loads(spelled), {"kernel.gird": 4})
    with pytest.raises(ScenarioError, match=r"--set kernel.rings.input.stages.*at least 1"):
        with_overrides(loads(spelled), {"kernel.rings.input.stages": 0})


def test_override_into_nothing_is_an_error(spelled):
    """A list position that does not exist, a value that has no parts: what there is instead."""
    ops, there = "kernel.roles.consumer.per_tile", "which has 3 (allowed: 0 wait, 1 compute, 2 release)"
    for path, told in {
        f"{ops}.99.wait": f"--set {ops}.99.wait: there is no position 99 in {ops}, {there}",
        f"{ops}.-1.wait": f"there is no position -1 in {ops}, {there}",
        f"{ops}.first": f"there is no position first in {ops}, {there}",
        "kernel.grid.x": "there is no 'x' to set in kernel.grid, which is ",
        "question.0": "there is no 0 to set in question, which is ",
    }.items():
        with pytest.raises(ScenarioError) as caught:
            with_overrides(loads(spelled), {path: 1})
        assert told in str(caught.value)


def test_override_into_a_list_without_words(spelled):
    """Positions alone; of an empty one there are none."""
    data = loads(spelled).resolved()
    data["kernel"]["grid"] = [1, 2]
    with pytest.raises(ScenarioError, match=r"no position 2 in kernel\.grid, which has 2 \(allowed: 0 to 1\)"):
        apply_override(data, ("kernel", "grid", 2), 1)
    data["kernel"]["grid"] = []
    with pytest.raises(ScenarioError, match=r"no position 0 in kernel\.grid, which is empty"):
        apply_override(data, ("kernel", "grid", 0), 1)


def test_axes_make_all_combinations_and_lists_make_points():
    """The last axis runs fastest."""
    assert grid_points({"a": [1, 2], "b": [3, 4]}) == [
        {"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4},
    ]  # fmt: skip
    assert grid_points([{"a": 1, "b": 2}, {"a": 3}]) == [{"a": 1, "b": 2}, {"a": 3}]
    assert grid_points(None) == [{}]


def test_sweep_size_is_bounded():
    """Before any point is made."""
    with pytest.raises(GpusimError, match="at most"):
        grid_points({name: list(range(100)) for name in "abc"})
