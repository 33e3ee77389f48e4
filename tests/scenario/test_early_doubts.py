"""Programmatic launches in a scenario file: what is doubtful, what is an error, and what advice makes of them."""

from __future__ import annotations

import pytest

from gpusim import advise, loads, predict
from gpusim.errors import ScenarioError
from gpusim.scenario.host.doubts import host_doubts

TEXT = """\
question: q
device: h200_sxm
host:
  api: cuda
  streams: 1
  kernels:
    a: {duration: 20 us, blocks: 132, prologue: 4 us, trigger: 0}
    b: {grid: 132, tiles_per_cta: 1, roles: {all: {warps: 4, per_tile: [WAIT{compute: {ffma: 1000}}]}}}
  threads:
    main:
      chunks: 8
      per_chunk: [CALLS]
"""


def text(calls: str, wait: str = "grid_dependency_wait, ") -> str:
    return TEXT.replace("CALLS", calls).replace("WAIT", wait)


def doubts(*args: str) -> list[str]:
    return [told for told in host_doubts(loads(text(*args)).model.host) if "programmatic" in told]


def test_kernels_behind_each_other_are_fine():
    assert not doubts("{launch: {kernel: a, programmatic: true}}, {launch: {kernel: b, programmatic: true}}")
    assert not doubts(
        "{launch: {kernel: a, programmatic: true}}, {record: e}, {launch: {kernel: b, programmatic: true}}"
    )


def test_what_comes_behind_a_copy_begins_as_any_other():
    (told,) = doubts("{h2d: 1 MiB}, {launch: {kernel: a, programmatic: true}}")
    assert "launch of 'a' in stream 's0' is programmatic, and it comes behind h2d" in told


def test_who_never_waits_may_read_what_is_not_there():
    (told,) = doubts("{launch: a}, {launch: {kernel: b, programmatic: true}}", "")
    assert "kernel 'b' may begin while the one ahead of it runs" in told
    assert "put grid_dependency_wait where" in told


@pytest.mark.parametrize("trigger", ["2", "last", "-1"])
def test_a_trigger_is_a_part_or_first(trigger):
    with pytest.raises(ScenarioError, match=r'trigger: expected a part from 0 to 1, or "first"'):
        loads(text("{launch: a}").replace("trigger: 0", f"trigger: {trigger}"))


def test_advice_launches_early_what_waits():
    """The prologues of 4 us and the time between kernels; the same work."""
    plain = loads(text("{launch: a}"))
    (lever,) = (one for one in advise(plain, predict(plain)).levers if one.name == "launches")
    assert lever.change == "launches of a plain → programmatic"
    assert lever.gain > 0.15
    never = loads(text("{launch: b}", ""))
    assert not [one for one in advise(never, predict(never)).levers if one.name == "launches"]


def test_what_stands_before_the_loop_comes_behind_copies_ahead():
    kernel = """\
question: q
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: 8
  rings: {input: {stages: 4, bytes: 4 KiB}}
  roles:
    all:
      warps: 1
      prologue: [{compute: {setup: 1}}]
      before_loop: [launch_dependents, grid_dependency_wait]
      per_tile: [{wait: input}, {compute: {ffma: 8, lds: 1}}, sync_threads, {tma_load: {ring: input, ahead: 4}}]
"""
    kinds = [type(op).__name__ for op in loads(kernel).program().roles[0].body(8)]
    assert kinds[:8] == ["Compute", *["TmaLoad"] * 4, "LaunchDependents", "GridDependencyWait", "WaitFull"]
    assert kinds.count("GridDependencyWait") == 1
    none = [type(op).__name__ for op in loads(kernel).program().roles[0].body(0)]
    assert none == ["Compute", "LaunchDependents", "GridDependencyWait"]
