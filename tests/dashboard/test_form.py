"""What can be changed of a scenario, and the changes that the fields of a form stand for."""

from pathlib import Path

import pytest

from gpusim.dashboard.page.form import changes_of, form_of
from gpusim.scenario import load, loads, with_overrides

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios"
SPELLED = """
question: Does a second stage hide the load?
device: {base: h200_sxm, set: {hbm.read_bandwidth: 3 TB/s}}
kernel:
  grid: 132
  tiles_per_cta: 12
  rings: {input: {stages: 2, bytes: 8 KiB}}
  roles:
    producer: {warps: 1, prologue: [{compute: {setup: 4}}], per_tile: [{acquire: input}, {tma_load: input}]}
    consumer: {warps: 4, per_tile: [{wait: input}, {compute: {ffma: 64, ilp: 4}}, {release: input}]}
"""


def fields(scenario, *changes):
    """The form's fields by path."""
    now = with_overrides(scenario, dict(change.split("=") for change in changes)) if changes else scenario
    return {field.path: field for field in form_of(scenario, scenario, now, changes).fields}


def test_a_technique_has_a_field_for_each_parameter_and_the_device():
    found = fields(load(SHIPPED / "stages.yaml"))
    assert len(found) == 8
    stages, tile = found["kernel.params.stages"], found["kernel.params.tile_bytes"]
    assert (stages.value, stages.whole, stages.least, stages.most) == ("3", True, 1, 8)
    assert (tile.value, tile.whole) == ("16 KiB", False)
    assert "h200_sxm" in found["device"].choices
    assert all(field.why for field in found.values())


def test_choices_and_times_are_fields_of_their_own_kind():
    found = fields(load(SHIPPED / "stream_pipeline.yaml"))
    assert found["kernel.params.kernel_s"].value == "4.8 ms"
    assert "pinned" in found["kernel.params.memory"].choices


def test_a_spelled_out_program_has_a_field_for_each_number_outermost_first():
    found = fields(loads(SPELLED))
    assert list(found)[:2] == ["kernel.grid", "kernel.tiles_per_cta"]
    assert found["kernel.rings.input.bytes"].value == "8 KiB"
    assert found["kernel.roles.consumer.per_tile.1.compute.ffma"].label == "ffma · consumer"
    assert not [path for path in found if "prologue" in path]  # what happens once changes little
    assert found["device.base"].value == "h200_sxm"


def test_fields_that_would_be_called_the_same_are_numbered():
    """Two loads of one role: the second one's bytes say so in front, where the label is not cut off."""
    labels = [field.label for field in fields(load(SHIPPED / "own_gather.yaml")).values()]
    assert {"bytes · load · all", "bytes (2) · load · all"} < set(labels)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_scenario_has_a_form_that_changes_nothing_by_itself(path):
    scenario = load(path)
    form = form_of(scenario, scenario, scenario, ())
    assert len(form.fields) >= 2
    assert len({field.label for field in form.fields}) == len(form.fields)
    assert changes_of(form.fields, {field.path: field.value for field in form.fields}, ()) == ()
    assert form.command == f"gpusim run {path}"


def test_a_field_that_differs_is_a_change_and_the_scenario_reads_it():
    scenario = loads(SPELLED)
    form = form_of(scenario, scenario, scenario, ())
    values = {field.path: field.value for field in form.fields} | {
        "kernel.rings.input.bytes": "4 KiB",
        "kernel.grid": 264,
    }
    changes = changes_of(form.fields, values, ("device.set.hbm.read_bandwidth=8 TB/s",))
    assert changes == ("kernel.grid=264", "kernel.rings.input.bytes=4 KiB", "device.set.hbm.read_bandwidth=8 TB/s")


def test_an_emptied_field_stands_for_what_it_was():
    scenario = loads(SPELLED)
    found = form_of(scenario, scenario, scenario, ()).fields
    assert changes_of(found, {"kernel.grid": "", "kernel.tiles_per_cta": None}, ()) == ()


def test_a_changed_form_knows_both_values_and_the_command_that_makes_it():
    scenario = load(SHIPPED / "stages.yaml")
    changes = ("kernel.params.stages=5", "device.set.hbm.read_bandwidth=8 TB/s")
    now = with_overrides(scenario, {"kernel.params.stages": 5, "device.set.hbm.read_bandwidth": "8 TB/s"})
    form = form_of(scenario, scenario, now, changes)
    stages = next(field for field in form.fields if field.path == "kernel.params.stages")
    assert (stages.value, stages.base) == ("5", "3")
    assert form.others == ("device.set.hbm.read_bandwidth=8 TB/s",)
    assert form.quantities["hbm.read_bandwidth"] == "8 TB/s"
    assert form.command.endswith("--set kernel.params.stages=5 --set 'device.set.hbm.read_bandwidth=8 TB/s'")
