"""Predictions of scenarios and of their baselines without overlap."""

from pathlib import Path

import pytest

from gpusim.deadlock import Deadlock
from gpusim.scenario import answer, load, loads, predict, serial_baseline

SHIPPED = sorted(Path(__file__).parents[2].glob("scenarios/*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenarios_take_as_long_as_if_every_tile_were_simulated(path):
    """Within 0.1 %."""
    scenario = load(path)
    exact = predict(scenario, exact=True, trace=False)
    assert predict(scenario, trace=False).total_s == pytest.approx(exact.total_s, rel=1e-3)


def test_prediction_carries_its_scenario(spelled):
    """Enough to run it again."""
    timeline = predict(loads(spelled))
    assert timeline.meta["source"] == "predicted"
    assert timeline.meta["scenario"]["kernel"]["grid"] == 8
    assert timeline.meta["scenario_hash"] == loads(spelled).hash
    assert timeline.meta["technique"] is None


def test_baseline_has_one_stage(spelled, demo):
    """For rings and for a technique's stages."""
    assert serial_baseline(loads(spelled)).program().rings[0].stages == 1
    assert serial_baseline(loads(demo)).params.stages == 1


def test_baseline_of_two_rings_has_one_stage_in_each():
    """They are declared apart."""
    two_rings = "question: q\ndevice: h200_sxm\nkernel: {technique: three_role, params: {tiles_per_cta: 8}}\n"
    serial = serial_baseline(loads(two_rings))
    assert (serial.params.input_stages, serial.params.output_stages) == (1, 1)
    assert predict(serial).total_s > predict(loads(two_rings)).total_s


def test_stages_beat_the_baseline(spelled):
    """Three stages overlap, one does not."""
    result = answer(loads(spelled))
    assert result.speedup_vs_serial > 1
    predicted = result.predicted()
    assert {
        "total_s",
        "hidden_fraction",
        "exposed_s",
        "speedup_vs_serial",
        "bottleneck",
        "occupancy",
        "period_s",
    } <= set(predicted)


def test_baseline_of_software_pipelining_runs_nothing_ahead(spelled):
    """With one stage nothing may run ahead, or it would overwrite what is being read."""
    text = (
        spelled.split("  roles:")[0]
        + """\
  roles:
    all:
      warps: 4
      per_tile: [{cp_async: {ring: input, ahead: 2}}, {commit_group: {ahead: 2}}, {wait_group: 2}, sync_threads,
                 {compute: {ffma: 64, lds: 4}}, sync_threads]
"""
    )
    result = answer(loads(text))
    assert result.serial_s >= result.timeline.total_s


def test_forgotten_release_is_a_deadlock(spelled):
    """Named by lane, with who could have released it."""
    with pytest.raises(Deadlock, match="producer waits at tile 3 for"):
        predict(loads(spelled.replace(", {release: input}", "")))
