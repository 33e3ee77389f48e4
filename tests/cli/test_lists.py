"""The commands that list what there is: techniques, devices, this machine, the schema."""

import pytest


@pytest.mark.parametrize("command", ["techniques", "devices", "doctor", "schema"])
def test_lists_are_json_too(answer, command):
    """One object each."""
    assert answer(command)


def test_device_shows_every_quantity_with_its_source(answer, gpusim):
    """Nothing without a source."""
    quantities = answer("devices", "textbook")["quantities"]
    assert all(quantity["source"] for quantity in quantities.values())
    assert "sm.clock" in gpusim("devices", "textbook")[1]
    code, _, err = gpusim("devices", "textbok")
    assert code == 2
    assert "textbook" in err
