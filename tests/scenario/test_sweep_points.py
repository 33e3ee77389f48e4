"""The points of a file's own sweep are checked, and what is wrong with them stands in the file."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from gpusim.scenario import loads, sweep
from gpusim.scenario.sweeps.points import checked_points, sweep_points

TEXT = """\
question: q
device: textbook
kernel:
  technique: tma_warp_specialized
  params: {tile_bytes: 16 KiB, stages: 3}
sweep: SWEEP
"""


def problem(own: str) -> str:
    """What checking the sweep ends with."""
    with pytest.raises(ScenarioError) as caught:
        checked_points(loads(TEXT.replace("SWEEP", own)))
    return str(caught.value)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("{kernel.params.stages: [1, 99]}", "scenario:6:35: sweep.kernel.params.stages.1: 99 is not possible"),
        ("{kernel.params.stages: [1, x]}", "scenario:6:35: sweep.kernel.params.stages.1: expected a whole number"),
        ("[{kernel.params.stages: 0}]", "scenario:6:10: sweep.0.kernel.params.stages: 0 is not possible"),
        ("{kernel.params.stage: [1, 2]}", "scenario:6:31: sweep.kernel.params.stage.0: unknown key"),
        ("{x: [1]}", "scenario:6:13: sweep.x.0: unknown key"),
        ("{device: [h200_sxm, nope]}", "scenario:6:28: sweep.device.1: unknown device 'nope'"),
        ("{device.set.hbm.read_bandwidth: [1 TB]}", "'1 TB' is a number of bytes, not a bandwidth"),
        ("{kernel.technique: [nope]}", "scenario:6:28: sweep.kernel.technique.0: unknown technique 'nope'"),
        ("{kernel.params.stages.x: [1]}", "scenario:6:34: sweep.kernel.params.stages.x.0: override"),
        ("{'': [1]}", "scenario:6:14: sweep..0: override path '' has an empty part"),
        (
            "{kernel.technique: [sync_tile]}",
            "sweep.kernel.technique.0: with kernel.technique=sync_tile kernel.params.stages is wrong: unknown key",
        ),
    ],
)
def test_place_is_that_of_the_value(own, told):
    """And not that of what it replaces, nor an option of the command line that nobody gave."""
    message = problem(own)
    assert told in message
    assert "--set" not in message
    with pytest.raises(ScenarioError) as caught:
        sweep(loads(TEXT.replace("SWEEP", own)))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("{kernel.params.stages: [1, 2, 1]}", "scenario:6:38: sweep.kernel.params.stages.2: 1 is given twice"),
        ("[{kernel.params.stages: 1}, {kernel.params.stages: 1}]", "sweep.1: is the same point as 0"),
        (
            "{kernel.params: [{stages: 1}], kernel.params.stages: [2]}",
            "scenario:6:39: sweep.kernel.params.stages: is inside kernel.params, which the sweep sets as a whole",
        ),
        ("[{kernel.params.stages: 2, kernel.params: {}}]", "kernel.params: replaces kernel.params.stages"),
        ("{device.set.hbm.read_bandwidth: [1 TB/s], device: [textbook]}", "set before; put it first"),
    ],
)
def test_what_would_be_lost_or_run_twice_is_no_sweep(own, told):
    """Nobody means it."""
    assert told in problem(own)


def test_a_device_and_its_quantities_are_two_axes():
    """A name, and behind it what to change of whatever it names."""
    text = TEXT.replace("SWEEP", "{device: [textbook, h200_sxm], device.set.hbm.read_bandwidth: [1 TB/s, 2 TB/s]}")
    assert len(checked_points(loads(text))) == 4


def test_values_given_twice_on_the_command_line():
    """They stand in no file."""
    scenario = loads(TEXT.replace("SWEEP", "{kernel.params.stages: [1, 2]}"))
    with pytest.raises(ScenarioError, match=r"^--set kernel\.params\.grid: 4 is given twice"):
        list(sweep_points(scenario, {"kernel.params.grid": [4, 4]}))


def test_a_wrong_value_is_told_once():
    """Whatever it is combined with; the others beside it."""
    lines = problem("{kernel.params.stages: [98, 99], kernel.params.grid: [1, 2, 3, -4]}").splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "sweep.kernel.params.stages.0", "sweep.kernel.params.stages.1", "sweep.kernel.params.grid.3",
    ]  # fmt: skip


def test_too_many_points_are_told_at_the_sweep():
    """Before the first of them is made."""
    many = list(range(1, 401))
    assert "scenario:6:1: sweep: the sweep has 160,000 points" in problem(
        f"{{kernel.params.grid: {many}, kernel.params.tiles_per_cta: {many}}}"
    )


def test_points_of_the_command_line_are_blamed_on_it():
    """They stand in no file; those of the file beside them do."""
    scenario = loads(TEXT.replace("SWEEP", "{kernel.params.stages: [1, 2]}"))
    with pytest.raises(ScenarioError, match=r"^--set kernel\.params\.grid: "):
        list(sweep_points(scenario, {**scenario.model.sweep, "kernel.params.grid": [0]}))


def test_points_are_all_combinations():
    """The last path fastest."""
    scenario = loads(TEXT.replace("SWEEP", "{kernel.params.stages: [1, 2], kernel.params.grid: [4, 8]}"))
    points = [(point, made.params.stages, made.params.grid) for point, made in sweep_points(scenario)]
    assert [values for _, *values in points] == [[1, 4], [1, 8], [2, 4], [2, 8]]
    assert points[1][0] == {"kernel.params.stages": 1, "kernel.params.grid": 8}
