"""What a scenario file may say, and what comes of it."""

import json

import pytest

from gpusim.errors import ScenarioError
from gpusim.program import CommitGroup, CpAsync, WaitFull
from gpusim.scenario import from_data, loads, with_overrides
from gpusim.scenario.kernel.spec import build_kernel


def test_spelled_kernel_becomes_a_program(spelled):
    """Rings, roles and their warps are those of the file."""
    program = loads(spelled).program()
    assert program.grid == 8
    assert program.tiles_per_cta == 12
    assert [(role.name, role.warps) for role in program.roles] == [("producer", 1), ("consumer", 4)]
    # 3 stages of 16 KiB and two mbarriers of 8 bytes each.
    assert program.shared_bytes == 3 * (16384 + 2 * 8)


def test_ops_carry_their_tile_and_the_bytes_of_the_ring(spelled):
    """An op in per_tile belongs to the tile of its iteration."""
    consumer = list(loads(spelled).program().roles[1].body(2))
    assert [op.tile for op in consumer] == [0, 0, 0, 1, 1, 1]
    assert consumer[0] == WaitFull("input", tile=0)
    assert consumer[1].reads == "input"
    assert list(loads(spelled).program().roles[0].body(1))[1].bytes == 16384


def test_a_stage_is_free_when_all_that_wait_for_it_have_released_it(spelled):
    """The default count of arrivals is the warps of the waiting roles, releasing or not."""
    assert loads(spelled).program().rings[0].empty_arrivals == 4
    forgetful = spelled.replace(", {release: input}", "")
    assert loads(forgetful).program().rings[0].empty_arrivals == 4


def test_ahead_is_software_pipelining(spelled):
    """Two tiles are fetched before the loop, none past the end; groups are committed throughout."""
    text = (
        spelled.split("  roles:")[0]
        + """\
  roles:
    all:
      warps: 4
      per_tile:
        - cp_async: {ring: input, ahead: full}
        - commit_group: {ahead: full, ring: input}
        - wait_group: 2
        - sync_threads
        - compute: {ffma: 64, lds: 4}
        - sync_threads
"""
    )
    ops = list(loads(text).program().roles[0].body(3))
    assert [op.tile for op in ops if isinstance(op, CpAsync)] == [0, 1, 2]
    assert len([op for op in ops if isinstance(op, CommitGroup)]) == 5
    assert [type(op).__name__ for op in ops[:4]] == ["CpAsync", "CommitGroup", "CpAsync", "CommitGroup"]


def test_every_word_reaches_its_op():
    """The whole vocabulary in one kernel."""
    text = """\
question: q
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 2
  rings: {in_: {stages: 2, bytes: 4096}, out: {stages: 2, bytes: 4096}}
  barriers: {mine: {arrivals: 1}}
  registers: 64
  roles:
    a:
      warps: 4
      prologue: [{set_max_nreg: 40}, sync_threads]
      per_tile:
        - acquire: in_
        - tma_load: in_
        - wait: in_
        - compute: {ffma: 1}
        - load: {bytes: 4096, wait: false}
        - wait_loads
        - store_shared: {ring: out}
        - cp_async: {ring: out, bytes: 64, width: 4}
        - commit_group
        - wait_group: 0
        - producer_commit: out
        - tma_store: {ring: out}
        - bulk_wait: {pending: 1, read: false}
        - store: {bytes: 1 KiB}
        - sync_threads:
        - named_barrier: {id: 1, warps: 4}
        - arrive: mine
        - expect_tx: {barrier: mine, bytes: 16}
        - mbarrier_wait: {barrier: mine, lag: 1}
        - release: in_
      epilogue: [{tma_store: {ring: out, tile: -2}}]
"""
    ops = list(loads(text).program().roles[0].body(2))
    names = {type(op).__name__ for op in ops}
    assert len(names) == 21
    assert [op.phase for op in ops if type(op).__name__ == "Wait"] == [-1, 0]
    assert ops[-1].tile == 0


def test_numbers_are_those_of_yaml_1_2(spelled):
    """1e1 is ten; on and no are text."""
    assert loads(spelled.replace("grid: 8", "grid: 1e1")).program().grid == 10
    with pytest.raises(ScenarioError, match="whole number"):
        loads(spelled.replace("grid: 8", "grid: on"))


def test_technique_parameters_have_units_and_defaults(demo):
    """Text with a unit becomes bytes, what is left out has its default."""
    scenario = loads(demo)
    assert (scenario.params.tile_bytes, scenario.params.stages, scenario.params.warps) == (8192, 3, 4)


def test_times_are_text_with_a_unit_or_seconds(demo):
    """And nothing of another dimension."""
    for text in ("12 us", "12e-6"):
        scenario = loads(demo.replace("stages: 3\n", f"stages: 3\n    pause: {text}\n"))
        assert scenario.params.pause == pytest.approx(12e-6)
    with pytest.raises(ScenarioError, match="is a number of bytes, not a time"):
        loads(demo.replace("stages: 3\n", "stages: 3\n    pause: 12 KiB\n"))


def test_impossible_combination_points_at_the_parameter(demo):
    """What the technique itself refuses has a line too."""
    with pytest.raises(ScenarioError, match=r"^scenario:7:5: kernel\.params\.stages: stages=8 of 65536 B exceed"):
        loads(demo.replace("8 KiB", "64 KiB").replace("stages: 3", "stages: 8"))


def test_resolved_scenario_reads_back_to_the_same(demo, spelled):
    """A result carries all it takes to run it again."""
    for text in (demo, spelled):
        scenario = loads(text)
        again = from_data(json.loads(json.dumps(scenario.resolved())))
        assert again.resolved() == scenario.resolved()
        assert again.hash == scenario.hash


def test_hash_depends_on_device_and_kernel_alone(demo):
    """The question may be reworded; writing a default out changes nothing."""
    scenario = loads(demo)
    assert loads(demo.replace("How many stages?", "Why?")).hash == scenario.hash
    assert loads(demo.replace("stages: 3\n", "stages: 3\n    warps: 4\n")).hash == scenario.hash
    assert with_overrides(scenario, {"kernel.params.stages": 4}).hash != scenario.hash


def test_device_quantity_can_be_replaced(spelled):
    """What if: a key of the profile with a unit."""
    scenario = loads(spelled, overrides={"device.set.sm.clock": "2 GHz"})
    assert scenario.profile().value("sm.clock") == 2e9
    assert scenario.resolved()["device"] == {"base": "textbook", "set": {"sm.clock": "2 GHz"}}


def test_padding_limits_resident_ctas(spelled):
    """ctas_per_sm asks for just enough unused shared memory."""
    from gpusim.hardware import occupancy

    scenario = loads(spelled.replace("grid: 8", "grid: 8\n  ctas_per_sm: 2"))
    assert occupancy(scenario.program(), scenario.profile()).ctas_per_sm == 2


def test_tiles_may_differ_between_ctas(spelled):
    """A list has one number per CTA."""
    text = spelled.replace("tiles_per_cta: 12", "tiles_per_cta: [1, 2, 3, 4, 5, 6, 7, 8]")
    assert loads(text).program().tiles_of(2) == 3


def test_programs_can_be_sent_to_another_process(spelled):
    """Plain values all the way down."""
    import pickle

    program = build_kernel(loads(spelled).model.kernel)
    again = pickle.loads(pickle.dumps(program))
    assert list(again.roles[0].body(3)) == list(program.roles[0].body(3))
