"""Overrides below names that a scenario chooses: rings, roles, kernels, streams."""

import pytest

from gpusim.errors import ScenarioError
from gpusim.scenario import loads, with_overrides

KERNEL = """
question: q?
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 4
  rings: {input: {stages: 2, bytes: 4 KiB}}
  roles:
    loader: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    worker: {warps: 1, per_tile: [{wait: input}, {release: input}]}
"""


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("kernel.rings.inptu.stages", "there is no 'inptu' in rings (allowed: input). Did you mean 'input'?"),
        ("kernel.roles.worked.warps", "there is no 'worked' in roles (allowed: loader, worker)"),
    ],
)
def test_name_that_nothing_has_is_said_to_be_unknown(path, message):
    """And not that fields of something new are missing."""
    with pytest.raises(ScenarioError) as error:
        loads(KERNEL, overrides={path: 3})
    assert message in str(error.value)
    assert "is missing" not in str(error.value)


def test_something_new_can_be_set_whole():
    """A ring that nobody uses is no mistake."""
    scenario = loads(KERNEL, overrides={"kernel.rings.other": {"stages": 2, "bytes": 1024}})
    assert set(scenario.data["kernel"]["rings"]) == {"input", "other"}


def test_known_names_are_overridden():
    """As before."""
    assert loads(KERNEL, overrides={"kernel.rings.input.stages": 3}).model.kernel.rings["input"].stages == 3


def test_a_quantity_of_the_device_is_told_to_stand_below_set():
    with pytest.raises(ScenarioError, match=r"'hbm' to set in device.*device\.set\.hbm\.read_bandwidth"):
        with_overrides(loads(KERNEL), {"device.hbm.read_bandwidth": "3 TB/s"})
