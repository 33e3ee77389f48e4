"""Loops inside a tile: `repeat` is its ops written out."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from gpusim.program import Compute, Load, Mix, WaitLoads
from gpusim.scenario import advise, loads, predict, serial_baseline
from gpusim.scenario.kernel.op_lists import length
from gpusim.scenario.loader import from_data

ROWS = """\
question: q
device: textbook
kernel:
  grid: 8
  tiles_per_cta: 4
  rings: {input: {stages: 2, bytes: 4 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    all:
      warps: 4
      prologue: [{repeat: {times: 2, ops: [{compute: {setup: 5}}]}}]
      per_tile:
        - wait: input
        - repeat:
            times: 3
            ops: [{load: {bytes: 4 KiB, ahead: 1}}, {repeat: {times: 2, ops: [{compute: {lds: 1}}, wait_loads]}}]
        - release: input
"""
TURN = """{load: {bytes: 4 KiB, ahead: 1}}, {compute: {lds: 1}}, wait_loads, {compute: {lds: 1}}, wait_loads"""


def body(text: str, tiles: int = 2) -> list:
    """Ops of the role."""
    return list(loads(text).program().roles[1].body(tiles))


def written_out() -> str:
    """The same without the word."""
    head, _, _ = ROWS.partition("        - repeat:")
    turn = TURN.replace("}}, ", "}}\n        - ").replace("wait_loads, ", "wait_loads\n        - ")
    text = head + 3 * f"        - {turn}\n" + "        - release: input\n"
    once = "{compute: {setup: 5}}"
    return text.replace(f"[{{repeat: {{times: 2, ops: [{once}]}}}}]", f"[{once}, {once}]")


def test_ops_run_in_order_as_often_as_said():
    """Nested too, and in any list; `lds` reads the ring that was waited for before the loop."""
    assert body(ROWS, 4) == body(written_out(), 4)
    ops = body(ROWS, 1)
    assert ops[:2] == 2 * [Compute(Mix(setup=5), tile=0)]
    assert [type(op) for op in ops].count(WaitLoads) == 6
    assert Compute(Mix(lds=1), tile=0, reads="input") in ops


def test_ahead_inside_is_that_of_tiles():
    """All turns of the loop fetch for the next tile."""
    loaded = [op.tile for op in body(ROWS, 3) if isinstance(op, Load)]
    assert loaded == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_overrides_reach_inside():
    """Its turns, and the ops in it."""
    place = "kernel.roles.all.per_tile.1.repeat"
    scenario = loads(ROWS, overrides={f"{place}.times": 5, f"{place}.ops.0.load.bytes": "2 KiB"})
    found = [op.bytes for op in scenario.program().roles[1].body(1) if isinstance(op, Load)]
    assert found == 5 * [2048]
    assert length(scenario.model.kernel.roles["all"].per_tile) == 2 + 5 * 5


def test_a_resolved_scenario_keeps_it():
    """And reads back to the same; without overlap nothing in it runs ahead."""
    scenario = loads(ROWS)
    assert from_data(scenario.resolved()).hash == scenario.hash
    serial = serial_baseline(scenario).program().roles[1].body(2)
    assert [op.tile for op in serial if isinstance(op, Load)] == [0, 0, 0, 1, 1, 1]


def test_it_is_predicted_and_advised_upon_like_its_ops():
    """Levers find what stands inside."""
    assert predict(loads(ROWS)).total_s == predict(loads(written_out())).total_s
    repeated, written = (advise(loads(text), workers=1).levers for text in (ROWS, written_out()))
    assert [(lever.change, lever.total_s) for lever in repeated] == [(one.change, one.total_s) for one in written]
    assert any("tile" in lever.change or "stages" in lever.change for lever in repeated)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("times: 3", "times: -1", r"per_tile\.1\.repeat\.times: -1 is not possible .allowed: at least 0"),
        ("times: 3", "times: 2.5", r"repeat\.times: is a mean, but the loop is in no other .allowed: a whole number"),
        ("times: 3", "times: 20000", r"repeat\.times: 20000 is not possible .allowed: at most 10000"),
        ("times: 3", "times: 9999", r"roles\.all\.per_tile: its repeats make 49,997 ops .allowed: at most 10,000"),
        (
            "{repeat: {times: 2, ops: [{compute: {setup: 5}}]}}",
            "{repeat: 4}",
            "repeat: expected a mapping, got 4 .*times, ops",
        ),
        ("times: 3", "tims: 3", r"repeat\.tims: unknown key .allowed: times, ops.\. Did you mean 'times'"),
        ("{load:", "{laod:", r"repeat\.ops\.0\.laod: unknown key .*Did you mean 'load'"),
        ("lds: 1", "ldss: 1", r"ops\.1\.repeat\.ops\.0\.compute\.ldss: unknown key .*Did you mean 'lds'"),
        ("{load: {bytes: 4 KiB, ahead: 1}}", "{wait: inptu}", r"ops\.0\.wait\.ring: there is no ring 'inptu'"),
        ("[{load", "[] #", r"repeat\.ops: .*at least 1"),
    ],
)
def test_what_cannot_be_is_explained(old, new, message):
    """With its place in the nest."""
    assert old in ROWS
    with pytest.raises(ScenarioError, match=message):
        loads(ROWS.replace(old, new))


def test_turns_that_vary_are_a_mean():
    """Rows of a triangle: two and a half turns each are three, two, three …; five rows have thirteen."""
    inner = "{repeat: {times: 2.5, ops: [{compute: {setup: 7}}]}}"
    outer = f"{{repeat: {{times: 5, ops: [{{compute: {{setup: 5}}}}, {inner}]}}}}"
    text = ROWS.replace("{repeat: {times: 2, ops: [{compute: {setup: 5}}]}}", outer)
    setup = [op.mix.setup for op in body(text, 1) if isinstance(op, Compute) and op.mix.setup]
    assert setup == [5, 7, 7, 7, 5, 7, 7, 5, 7, 7, 7, 5, 7, 7, 5, 7, 7, 7]
    assert body(text, 1) == body(text, 1)


def test_a_loop_in_no_other_has_whole_turns():
    """Half a turn would be the same one in every tile."""
    with pytest.raises(ScenarioError, match=r"times: is a mean, but the loop is in no other") as error:
        loads(ROWS.replace("times: 3", "times: 3.5"))
    assert "a whole number" in str(error.value)
    for wrong in ("-1", "two"):
        with pytest.raises(ScenarioError, match="times"):
            loads(ROWS.replace("times: 3", f"times: {wrong}"))


def test_a_loop_that_runs_not_at_all():
    """As the rest of an unrolled one: as if it were not there."""
    without = ROWS.replace("prologue: [{repeat: {times: 2, ops: [{compute: {setup: 5}}]}}]", "prologue: []")
    none = ROWS.replace("prologue: [{repeat: {times: 2,", "prologue: [{repeat: {times: 0,")
    assert body(none, 1) == body(without, 1)
