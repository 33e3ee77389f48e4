"""From a recording to the scenario that shows it."""

from dataclasses import asdict
from pathlib import Path

import pytest

from gpusim.dashboard.page.address import address_of, query_of
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.scenario import load, with_overrides
from gpusim.scenario.overrides import parse_assignments
from gpusim.validation import measurements

FOLDER = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def find():
    return ScenarioFolder(FOLDER).finder()


def test_every_technique_that_is_recorded_has_a_scenario_that_becomes_its_recordings(find):
    """The first and the last of each technique on each device; a changed device is named anew."""
    recorded = measurements()
    some = {(m.technique.name, m.device): m for m in recorded} | {
        (m.technique.name, m.device, "first"): m for m in reversed(recorded)
    }
    for measurement in some.values():
        asked = find(measurement.technique.name, measurement.device, measurement.params)
        assert asked is not None, measurement.technique.name
        changes = {path: values[0] for path, values in parse_assignments(asked.changes).items()}
        scenario = load(FOLDER / f"{asked.name}.yaml")
        shown = with_overrides(scenario, changes) if changes else scenario
        assert asdict(shown.params) == dict(measurement.params)
        assert (shown.recorded_device, dict(shown.model.device.set)) == (measurement.device, {})


def test_what_a_scenario_has_already_is_no_change(find):
    own = load(FOLDER / "stages.yaml")
    asked = find("tma_warp_specialized", "h200_sxm", asdict(own.params))
    assert (asked.name, asked.changes) == ("stages", ())
    other = find("tma_warp_specialized", "h100_sxm", asdict(own.params) | {"stages": 2})
    assert other.changes == ("device=h100_sxm", "kernel.params.stages=2")


def test_a_technique_of_which_there_is_no_scenario_is_not_found(find):
    assert find("none_such", "h200_sxm", {}) is None


def test_the_address_of_a_scenario_and_its_changes_can_be_read_back():
    changes = ("device=h100_sxm", "kernel.params.mode=a b&c", "kernel.params.stages=2")
    address = address_of(query_of("stages", changes))
    assert (address["scenario"], tuple(address["changes"])) == ("stages", changes)
