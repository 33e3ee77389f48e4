"""Kernels that take time stamps, against closed forms (textbook device) and the `time_stamps` bench."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import (
    CommitGroup,
    Compute,
    CpAsync,
    Load,
    Mix,
    Role,
    Store,
    SyncThreads,
    TimeStamp,
    WaitGroup,
    with_time_stamps,
)
from gpusim.timeline import KINDS
from tests.bench_rows import rows
from tests.tile_programs import NS, cp_async_ring, kernel, one_role, sync_loop, textbook, tma_ring, total_ns

PIPELINES = {"tma": tma_ring(2), "cp_async": cp_async_ring(2), "sync": sync_loop()}
TURNS = {
    "worker": ("wait", "barrier", "issue", "compute", "load"),
    "producer": ("wait", "issue"),
    "consumer": ("wait", "compute"),
}


def steps(program, turn, role="worker", tiles=3):
    """What begins with a stamp in a role that tells ``turn``."""
    found = next(each for each in with_time_stamps(program, {role: turn}).roles if each.name == role)
    return [(op.kind, op.tile) for op in found.body(tiles) if isinstance(op, TimeStamp)]


def test_each_step_begins_with_a_stamp():
    """As in the kernels: a producer's wait and copy of a tile, a consumer's wait and arithmetic."""
    program = tma_ring(2)
    producer = steps(program, ("wait", "issue"), "producer", tiles=2)
    assert producer == [("wait", 0), ("issue", 0), ("wait", 1), ("issue", 1)]
    consumer = steps(program, ("wait", "compute"), "consumer", tiles=2)
    assert consumer == [("wait", 0), ("compute", 0), ("wait", 1), ("compute", 1)]


def test_what_is_not_told_belongs_to_the_step_before():
    """A kernel whose stamps do not tell stores shows them as computing; of one that does they are a step."""
    program = one_role(Load(128, tile=0), Compute(Mix(ffma=4), tile=0), Store(128, tile=0))
    assert steps(program, ("load", "compute"), tiles=1) == [("load", 0), ("compute", 0)]
    assert steps(program, ("load", "compute", "store"), tiles=1) == [("load", 0), ("compute", 0), ("store", 0)]


def test_addresses_between_two_steps_are_no_step():
    """Of several ops of a kind that first is one which the turn has next; others belong to what they stand in."""

    def body(tiles):
        for tile in range(tiles):
            yield Compute(Mix(setup=3), tile=tile)
            yield WaitGroup(0, tile=tile)
            yield Compute(Mix(interleaved=2), tile=tile)
            yield SyncThreads(tile=tile)
            yield Compute(Mix(setup=3), tile=tile)
            yield CpAsync("input", 512, tile=tile + 1)
            yield CommitGroup(tile=tile + 1)
            yield Compute(Mix(ffma=4), tile=tile)

    program = kernel(Role("worker", 1, body), tiles=3)
    found = steps(program, ("issue", "compute", "wait", "barrier"))
    assert found[:8] == [
        ("wait", 0), ("barrier", 0), ("issue", 1), ("compute", 0),
        ("wait", 1), ("barrier", 1), ("issue", 2), ("compute", 1),
    ]  # fmt: skip


def test_a_turn_goes_on_where_a_step_is_missing():
    """Copies in front of a loop, and turns at its end that copy nothing."""
    found = steps(cp_async_ring(3), ("issue", "compute", "wait", "barrier"), tiles=4)
    assert [kind for kind, _ in found[:3]] == ["issue", "issue", "wait"]
    assert [tile for kind, tile in found if kind == "compute"] == [0, 1, 2, 3]
    assert [tile for kind, tile in found if kind == "wait"] == [0, 1, 2, 3]


def test_the_turn_of_a_role_is_that_of_the_name_it_begins_with():
    """`consumer_tail` shows what `consumer` does unless it has a turn of its own; other roles take no stamps."""
    names = ("consumer", "consumer_tail", "other")
    roles = [Role(name, 1, lambda _tiles: [Compute(Mix(ffma=4), tile=0)]) for name in names]
    stamped = with_time_stamps(kernel(*roles, tiles=1), {"consumer": ("compute",)})
    assert [sum(isinstance(op, TimeStamp) for op in role.body(1)) for role in stamped.roles] == [1, 1, 0]


def test_a_lane_shows_what_stamps_show():
    """Its steps follow each other without a gap, the last one up to the end of the warp."""
    timeline = simulate_kernel(with_time_stamps(tma_ring(2), TURNS), load_profile("h200_sxm"), exact=True)
    for lane in ("producer", "consumer"):
        rows = np.flatnonzero(timeline.mask(lanes=rf"cta\[0\]\.{lane}$"))
        rows = rows[np.argsort(timeline.start_s[rows])]
        assert np.allclose(timeline.end_s[rows][:-1], timeline.start_s[rows][1:], atol=1e-12)
        assert {KINDS[kind] for kind in timeline.kind[rows]} == {"wait", "issue" if lane == "producer" else "compute"}


def test_the_ops_stay_what_they_were():
    """Stamps come between them and nowhere else."""
    program = tma_ring(3)
    for before, after in zip(program.roles, with_time_stamps(program, TURNS).roles, strict=True):
        assert [op for op in after.body(5) if not isinstance(op, TimeStamp)] == list(before.body(5))


@pytest.mark.parametrize("name", PIPELINES)
def test_stamps_that_cost_nothing_change_nothing(name):
    """The textbook device takes them in no time."""
    program = PIPELINES[name]
    assert total_ns(with_time_stamps(program, TURNS)) == pytest.approx(total_ns(program), rel=1e-9)


def test_a_lone_warp_takes_its_slots_one_after_the_other():
    """Three tiles, one stamp each: 3 n cycles more, of the step that it begins."""

    def body(tiles):
        for tile in range(tiles):
            yield Compute(Mix(ffma=100, ilp=4.0), tile=tile)

    program = kernel(Role("worker", 1, body), tiles=3)
    device = textbook(probe__stamp=8)
    plain, stamped = (
        simulate_kernel(each, device, exact=True)
        for each in (program, with_time_stamps(program, {"worker": ("compute",)}))
    )
    assert (stamped.total_s - plain.total_s) / NS == pytest.approx(24)
    computing = [float((t.end_s - t.start_s)[t.mask(kinds=("compute",))].sum()) / NS for t in (plain, stamped)]
    assert computing[1] - computing[0] == pytest.approx(24)


def test_what_a_stamp_takes_before_its_clock_is_read_counts_for_the_step_before():
    """That is nothing, unless the warp looks whether it has to write."""

    def computing(turn):
        def body(tiles):
            for tile in range(tiles):
                yield WaitGroup(0, tile=tile)
                yield Compute(Mix(ffma=100, ilp=4.0), tile=tile)

        program = with_time_stamps(kernel(Role("worker", 1, body), tiles=3), {"worker": turn})
        timeline = simulate_kernel(program, textbook(probe__stamp_alone=30), exact=True)
        rows = timeline.mask(kinds=("compute",)) & (timeline.tile == 1)
        return float((timeline.end_s - timeline.start_s)[rows].sum()) / NS

    # Its own stamp, and the one in front of the wait behind it.
    assert computing(("wait", "compute")) - computing(("compute",)) == pytest.approx(30)


def test_stamps_of_a_pipeline_take_what_was_measured():
    """Four stamps a turn: 5 cycles each off at most with one warp on a scheduler, 9 with two and more."""
    device = load_profile("h200_sxm")
    measured = {(r["fma"], r["vectors"], r["warps"], r["stamps"]): r["cycles_median"] for r in rows("time_stamps")}
    alone, slots = device.value("probe.stamp_alone"), device.value("probe.stamp")
    for (fma, vectors, warps, stamps), cycles in measured.items():
        if not stamps:
            continue
        each = (cycles - measured[fma, vectors, warps, 0]) / stamps
        expected = alone + (max(warps / 4.0, 1.0) - 1.0) * slots
        assert each == pytest.approx(expected, abs=5.0 if warps <= 4 else 9.0), (fma, vectors, warps)
