"""What to change about a scenario, and when to leave it."""

import json
from pathlib import Path

import pytest

import gpusim
from gpusim.scenario import from_data, load, loads, predict, with_overrides
from gpusim.scenario.levers.advice import HARDLY, WORTH_IT, Advice, Lever, advise
from gpusim.timeline.bottleneck import PEAK, Bottleneck
from gpusim.timeline.roofline import Roofline

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
HELD = Bottleneck("copy latency", 0.56, "more stages")


def lever(change, gain, order=0, enough="", **overrides):
    """One of several, of a scenario that takes a second."""
    return Lever(change.split()[0], change, 1 - gain, gain, overrides or {"kernel.params.x": 1}, order, enough)


def advice(*levers):
    """Ranked, as `advise` does."""
    return Advice(1.0, HELD, None, tuple(sorted(levers, key=lambda one: -one.gain)))


def test_one_stage_of_a_slow_copy_wants_a_second_one(spelled):
    """And the gain is what predicting that very scenario says."""
    own = loads(spelled.replace("stages: 3", "stages: 1").replace("grid: 8", "grid: 132"))
    found = advise(own)
    assert found.best.name == "input.stages"
    assert found.verdict.startswith("Change stages 1 → ")
    again = predict(with_overrides(own, found.best.overrides), trace=False).total_s
    assert again == pytest.approx(found.best.total_s)
    assert found.best.gain == pytest.approx(1 - again / predict(own).total_s)
    assert found.best.gain > 0.2


def test_a_grid_that_leaves_most_of_the_device_idle_is_to_grow(spelled):
    """Eight CTAs are on 8 of 132 SMs."""
    found = advise(loads(spelled))
    assert found.best.name == "grid"
    assert found.best.gain > 0.4


def test_a_kernel_at_its_peak_is_left():
    """The roof is named, and what is more than needed."""
    found = advise(load(SCENARIOS[0].parent / "software_pipelining.yaml"))
    assert found.best is None
    assert found.verdict.startswith("Leave it: no lever gains more than 2 %. Held back by FP32 arithmetic, at 94 %")
    assert "2 stages are enough (as fast)" in found.enough
    assert found.roofline.regime == "compute-bound"


def test_a_bottleneck_below_the_roof_of_memory_says_what_the_roof_leaves():
    """Memory bounds a kernel whose critical path waits for copies; far below the roof nothing is said of it."""
    near, far = (Roofline(share * 4e12, share, 1e12, 0.02, 0.4, 15.0) for share in (0.7, 0.4))
    held = Advice(1.0, HELD, near, ()).held_by
    assert held == (
        "copy latency, 56 % of the critical path; memory, at 70 % of its peak, leaves at most 30 % while the bytes stay"
    )
    assert Advice(1.0, HELD, far, ()).held_by == "copy latency, 56 % of the critical path"
    full = Bottleneck("shared memory", 0.81, "fewer bank conflicts", PEAK)
    assert Advice(1.0, full, near, ()).held_by == "shared memory, at 81 % of its peak"


def test_levers_are_ranked_and_complete():
    """By gain, of which six digits count; every one with what gives it."""
    found = gpusim.advise(load(SCENARIOS[0].parent / "stream_pipeline.yaml"))
    gains = [round(one.gain, 6) for one in found.levers]
    assert gains == sorted(gains, reverse=True)
    assert all(one.overrides and one.total_s > 0 for one in found.levers)
    assert found.roofline is None
    assert "of the time" in found.held_by


def test_what_does_not_fit_is_refused_with_its_reason():
    """Three tiles of 64 KiB fit into shared memory, four do not."""
    params = {"tile_bytes": 65536, "stages": 3, "ctas_per_sm": 1, "grid": 132}
    own = from_data(
        {"question": "?", "device": "h200_sxm", "kernel": {"technique": "tma_warp_specialized", "params": params}}
    )
    found = advise(own)
    refused = {one.change: one.why for one in found.refused}
    assert "shared memory" in refused["stages 3 → 4"]
    assert not any(one.change == "stages 3 → 4" for one in found.levers)


def test_a_change_that_leaves_an_order_to_luck_is_refused():
    """With one stage less a copy would overwrite what a bulk store still reads; with as many it may not."""
    own = loads(
        """
question: "?"
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: 24
  registers: 32
  rings: {out: {stages: 2, bytes: 4 KiB}}
  roles:
    all:
      warps: 4
      per_tile:
        - compute: {ffma: 8000}  # so long that the copy is over whenever this is simulated
        - bulk_wait: 1
        - sync_threads
        - store_shared: {ring: out, bytes: 4 KiB}
        - sync_threads
        - tma_store: {ring: out, bytes: 4 KiB}
      epilogue: [{bulk_wait: 0}]
"""
    )
    assert own.doubts() == ()
    found = advise(own)
    assert "may still read" in {one.change: one.why for one in found.refused}["stages 2 → 1"]
    assert "stages 2 → 1" not in {one.brief for one in found.levers}


def test_more_ctas_than_come_together_are_refused():
    """The grid of 240 has two for each SM, so that four would be the same again."""
    found = advise(load(next(path for path in SCENARIOS if path.stem == "cluster_multicast")))
    assert {one.change: one.why for one in found.refused}[
        "CTAs per SM 1 → 4"
    ] == "no more than 2 come together on an SM"
    assert [one.change for one in found.levers if one.name == "ctas_per_sm"] == ["CTAs per SM 1 → 2"]


@pytest.mark.parametrize("name", ["fused_softmax", "two_level"])
def test_ctas_of_a_kernel_inside_a_host_program_are_a_lever(name):
    """How many come together is not known there."""
    found = advise(load(next(path for path in SCENARIOS if path.stem == name)))
    assert any(one.name == "ctas_per_sm" for one in found.levers)


def test_ctas_that_a_deeper_ring_drives_out_are_told():
    """Eight stages of 16 KiB leave room for one CTA instead of two."""
    params = {"tile_bytes": 16384, "stages": 4, "ctas_per_sm": 2}
    own = from_data(
        {"question": "?", "device": "h200_sxm", "kernel": {"technique": "tma_warp_specialized", "params": params}}
    )
    assert any(one.change == "stages 4 → 8, 1 instead of 2 CTAs on an SM" for one in advise(own).levers)


def test_an_exact_timeline_is_not_compared_with_extrapolated_ones(spelled):
    """Gains are the same with both."""
    own = loads(spelled.replace("tiles_per_cta: 12", "tiles_per_cta: 400"))
    exact, quick = advise(own, predict(own, exact=True)), advise(own)
    assert [one.gain for one in exact.levers] == [one.gain for one in quick.levers]


def test_processes_advise_the_same_as_one(spelled, monkeypatch):
    """Long predictions are spread; nothing else changes."""
    own = loads(spelled)
    alone = advise(own, workers=1)
    monkeypatch.setattr("gpusim.scenario.sweeps.parallel.SERIAL_S", 0.0)
    assert advise(own, workers=2).as_dict() == alone.as_dict()


def test_of_equal_gains_the_one_that_changes_least_is_advised():
    """Less than `HARDLY` is no reason to change three things instead of one."""
    found = advice(lever("ctas 2 → 4", 0.067, a=1, b=2, c=3), lever("stages 2 → 3", 0.067 - HARDLY / 2))
    assert found.best.change == "stages 2 → 3"
    clear = advice(lever("ctas 2 → 4", 0.067, a=1, b=2, c=3), lever("stages 2 → 3", 0.067 - 2 * HARDLY))
    assert clear.best.change == "ctas 2 → 4"
    nearer = advice(lever("stages 2 → 4", 0.10, order=2), lever("stages 2 → 3", 0.098))
    assert nearer.best.change == "stages 2 → 3"


def test_a_gain_that_is_not_worth_it_is_left():
    """Up to `WORTH_IT`; an advised change is never below it."""
    assert advice(lever("stages 2 → 3", WORTH_IT)).best is None
    assert advice(lever("stages 2 → 3", WORTH_IT + 1e-4), lever("tile 1 → 2", WORTH_IT - 1e-4, order=-1)).best.name == (
        "stages"
    )


def test_the_simplest_that_is_hardly_slower_is_called_enough():
    """Of stages the fewest; not of the lever that is to be pulled, and not what is clearly slower."""
    stages = (lever("stages 4 → 3", -0.002, 1, "3 stages are"), lever("stages 4 → 2", -0.008, 3, "2 stages are"))
    found = advice(*stages, lever("warps 8 → 4", -0.05, 1, "4 warps are"))
    assert found.enough == ("2 stages are enough (0.8 % slower)",)
    assert found.verdict == (
        "Leave it: no lever gains more than 2 %. Held back by copy latency, 56 % of the critical path. "
        "2 stages are enough (0.8 % slower)."
    )
    assert advice(*stages, lever("stages 4 → 5", 0.1)).enough == ()


def test_nothing_to_pull_is_said():
    """As where no change keeps the work equal."""
    assert "there is no lever" in advice().verdict


def test_advice_is_plain_data():
    """For ``--json``; the options can be pasted."""
    found = advise(load(SCENARIOS[0].parent / "nothing_overlaps.yaml"))
    data = json.loads(json.dumps(found.as_dict()))
    assert {"verdict", "leave", "best", "bottleneck", "roofline", "levers", "enough", "refused"} <= set(data)
    assert {"lever", "change", "total_s", "gain", "set", "arguments"} == set(data["levers"][0])
    assert data["levers"][0]["arguments"].startswith("--set kernel.params.")
    assert data["roofline"]["roof"] in ("memory bandwidth", "FP32 arithmetic")
