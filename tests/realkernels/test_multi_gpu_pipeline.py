"""`multi_gpu_pipeline`: what its events order, and on a device without overheads what that comes to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpusim.hardware import load_profile
from gpusim.host import simulate_host
from gpusim.timeline import Timeline
from realkernels._harness.host_oracle import expected
from realkernels.multi_gpu_pipeline import Params
from realkernels.multi_gpu_pipeline.design import totals
from realkernels.multi_gpu_pipeline.model import build

COPY_S = 1e-3
PLAIN = Params(gpus=3, microbatches=6, bytes=int(300e9 * COPY_S) // 4096 * 4096, kernel_s=2e-3, slots=2)
"""Copies of a millisecond, kernels of two."""


def timeline(params: Params) -> Timeline:
    return simulate_host(build(params), load_profile("textbook"))


def work(params: Params) -> dict[tuple[str, int, int], tuple[float, float]]:
    """(kernel or copy, GPU that does it, micro-batch): start and end."""
    rows = [row for row in timeline(params) if row.kind in ("kernel", "transfer") and "gpu[" in row.lane]
    rows = [row for row in rows if row.kind == "kernel" or row.lane.endswith("[p2p]")]
    return {(row.kind, int(row.lane[4]), row.tile): (row.start_s, row.end_s) for row in rows}


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("way", ["push", "pull"])
@pytest.mark.parametrize("stream", ["own", "compute"])
def test_a_tensor_is_there_before_it_is_used_and_until_it_has_been(slots, way, stream):
    """Computed before it is sent, sent before it is computed on, and its slot empty before the next one comes."""
    found = work(replace(PLAIN, slots=slots, way=way, copy_stream=stream))
    for gpu in range(2):
        for batch in range(PLAIN.microbatches):
            start, end = found["transfer", gpu, batch]
            assert start >= found["kernel", gpu, batch][1] - 1e-12
            assert found["kernel", gpu + 1, batch][0] >= end - 1e-12
            if batch >= slots and gpu == 0:
                assert start >= found["transfer", 1, batch - slots][1] - 1e-12


def test_kernels_hide_the_copies_if_there_is_room_for_two():
    """All but the way of the first tensor and the last: kernels of the slowest follow each other."""
    small = 2e-5  # what goes in and out by the host
    assert timeline(PLAIN).total_s == pytest.approx((6 + 2) * 2e-3 + 2 * COPY_S, abs=2 * small)


def test_one_slot_waits_for_its_copy():
    """A slot is computed in, read out and only then free: kernel and copies take turns in the middle."""
    one = timeline(replace(PLAIN, slots=1, microbatches=16)).total_s - timeline(replace(PLAIN, slots=1)).total_s
    assert one / 10 == pytest.approx(2e-3 + 2 * COPY_S, rel=0.02)


def test_copies_among_the_kernels_take_turns_with_them():
    in_turn = replace(PLAIN, copy_stream="compute")
    more = timeline(replace(in_turn, microbatches=16)).total_s - timeline(in_turn).total_s
    assert more / 10 == pytest.approx(2e-3 + COPY_S, rel=0.02)


def test_nothing_overlaps_where_the_host_waits():
    one_batch = 3 * 2e-3 + 2 * COPY_S
    assert timeline(replace(PLAIN, hand_over="host")).total_s == pytest.approx(6 * one_batch, rel=0.01)


def test_the_slowest_part_decides():
    slow = replace(PLAIN, imbalance=0.5)
    more = timeline(replace(slow, microbatches=16)).total_s - timeline(slow).total_s
    assert more / 10 == pytest.approx(3e-3, rel=0.01)


@pytest.mark.parametrize("params", totals()[::6], ids=lambda params: f"{params.gpus}-{params.slots}-{params.way}")
def test_every_part_has_added_one(params):
    """The oracle's plan: what the host gets is what it gave, through as many kernels as there are GPUs."""
    plan = expected(build(params))
    assert plan.checkable
    assert plan.content["output"] == [("input", grain, params.gpus) for grain in range(len(plan.content["input"]))]
