"""`layer_pipeline`: what is between its calls, and on a device without overheads the time that a pipeline takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from gpusim.hardware import load_profile
from gpusim.host import simulate_host
from gpusim.program.host import Free, FreeAsync, Malloc, MallocAsync
from realkernels.layer_pipeline import Params
from realkernels.layer_pipeline.model import build, layer_s, stage_of

SMALL = Params(layers=6, streams=3, batches=5, bytes=4096)


def total_s(params: Params) -> float:
    return simulate_host(build(params), load_profile("textbook")).total_s


def kernels(params: Params) -> list:
    """Of the textbook device, by batch and in the order in which they start."""
    rows = [row for row in simulate_host(build(params), load_profile("textbook")) if row.kind == "kernel"]
    return sorted(rows, key=lambda row: (row.tile, row.start_s))


def test_layers_are_dealt_as_evenly_as_they_can_be():
    """In runs, the longest of which has at most one layer more than the shortest."""
    for layers in range(1, 20):
        for streams in range(1, layers + 1):
            stages = [stage_of(Params(layers=layers, streams=streams), layer) for layer in range(layers)]
            counts = Counter(stages)
            assert stages == sorted(stages)
            assert set(counts) == set(range(streams))
            assert max(counts.values()) - min(counts.values()) <= 1


def test_more_streams_than_layers_are_refused():
    with pytest.raises(ValueError, match="6 layers cannot be dealt to 7 streams: use 6"):
        replace(SMALL, streams=7)


def test_imbalance_leaves_the_sum_as_it_is():
    for layers in (1, 2, 7):
        params = Params(layers=layers, streams=1, kernel_s=1e-4, imbalance=0.8)
        assert sum(layer_s(params, layer) for layer in range(layers)) == pytest.approx(layers * 1e-4)


def test_a_batch_goes_through_its_layers_one_after_another():
    """Whatever stream they are on: no layer begins before the one ahead of it has ended."""
    rows = kernels(SMALL)
    assert len(rows) == 30
    for before, after in pairwise(rows):
        assert before.tile != after.tile or before.end_s <= after.start_s + 1e-12


def test_stages_work_on_different_batches_at_once():
    """After the first batch has come through, one leaves with each stage's time: (batches + stages - 1) of them."""
    stage_s = 2 * SMALL.kernel_s
    assert total_s(SMALL) == pytest.approx((5 + 3 - 1) * stage_s, rel=0.01)


def test_the_longest_stage_sets_the_pace():
    """The first two layers of six, which take 1.8 and 1.48 times as long as on average."""
    params = replace(SMALL, imbalance=0.8, batches=40)
    assert total_s(params) == pytest.approx((40 * 3.28 + 2 + 0.72) * SMALL.kernel_s, rel=0.01)


@pytest.mark.parametrize(("blocks", "at_once"), [(88, 3), (132, 2), (264, 1)])
def test_kernels_run_side_by_side_as_far_as_their_blocks_find_room(blocks, at_once):
    rows = kernels(replace(SMALL, blocks=blocks, batches=12))
    most = max(sum(row.start_s <= other.start_s < row.end_s - 1e-9 for row in rows) for other in rows)
    assert most == at_once


@pytest.mark.parametrize(("allocation", "take", "give"), [("malloc", Malloc, Free), ("async", MallocAsync, FreeAsync)])
def test_what_is_taken_is_given_back(allocation, take, give):
    """A batch's buffer and a workspace of each layer."""
    ops = build(replace(SMALL, allocation=allocation)).threads[0].ops
    taken = [op.buffer for op in ops if isinstance(op, take)]
    assert len(taken) == 5 * (1 + 6)
    assert sorted(taken) == sorted(op.buffer for op in ops if isinstance(op, give))
    assert not any(isinstance(op, Malloc | Free | MallocAsync | FreeAsync) for op in build(SMALL).threads[0].ops)
