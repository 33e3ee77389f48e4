"""Sweeps: ranked, parallel, resumable."""

import gc
import json
import sys
from types import SimpleNamespace

import pytest

from gpusim.errors import GpusimError, ScenarioError
from gpusim.scenario import loads, sweep

STAGES = {"kernel.rings.input.stages": [1, 2, 3]}


def test_points_are_ranked_by_time(spelled):
    """More stages are never slower on the textbook device."""
    result = sweep(loads(spelled), STAGES)
    assert [point.index for point in result.points] == [0, 1, 2]
    assert result.best.point["kernel.rings.input.stages"] > 1
    assert result.ranked[-1].point == {"kernel.rings.input.stages": 1}


def test_processes_give_the_same_as_one(spelled, monkeypatch):
    """Point by point."""
    scenario = loads(spelled)
    axes = {"kernel.rings.input.stages": [1, 2, 3, 4], "kernel.tiles_per_cta": [8, 16, 24]}
    alone = sweep(scenario, axes, workers=1)
    monkeypatch.setattr("gpusim.scenario.sweeps.parallel.SERIAL_S", 0.0)
    together = sweep(scenario, axes, workers=2)
    assert [point.metrics for point in together.points] == [point.metrics for point in alone.points]


def test_interrupted_sweep_resumes_with_nothing_lost(spelled, tmp_path):
    """What is in the file is not run again; a line cut off by a crash is."""
    output = tmp_path / "sweep.jsonl"
    whole = sweep(loads(spelled), STAGES, output=output)
    lines = output.read_text().splitlines(keepends=True)
    assert len(lines) == 3
    output.write_text(lines[0] + lines[1] + lines[2][:20])
    ran = []
    again = sweep(loads(spelled), STAGES, output=output, progress=lambda done, total: ran.append((done, total)))
    assert ran == [(3, 3)]
    assert again == whole
    rows = [line for line in output.read_text().splitlines() if line.endswith("}")]
    assert len({json.loads(row)["key"] for row in rows}) == 3


def test_point_that_does_not_fit_keeps_its_reason(spelled):
    """The others go on."""
    result = sweep(loads(spelled), {"kernel.rings.input.stages": [2, 60]})
    assert result.points[0].error == ""
    assert "shared memory" in result.points[1].error
    assert result.points[1].total_s == float("inf")
    assert len(result.ranked) == 1


def test_point_that_is_no_scenario_is_an_error(spelled):
    """Before anything runs."""
    with pytest.raises(ScenarioError, match="at least 1"):
        sweep(loads(spelled), {"kernel.rings.input.stages": [1, 0]})


def test_own_sweep_is_the_default(demo):
    """The scenario's sweep section."""
    assert len(sweep(loads(demo)).points) == 3


def test_a_scheduler_that_is_not_there_is_told(spelled, monkeypatch, tmp_path):
    """However little there is to do; where there is nothing, nobody asks for one."""

    def client(address, **_):
        raise OSError(f"timed out: {address}")

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=client))
    with pytest.raises(GpusimError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1: timed out"):
        sweep(loads(spelled), STAGES, dask="tcp://127.0.0.1:1")
    whole = sweep(loads(spelled), STAGES, output=tmp_path / "sweep.jsonl")
    assert sweep(loads(spelled), STAGES, output=tmp_path / "sweep.jsonl", dask="tcp://127.0.0.1:1") == whole


def test_a_scheduler_does_what_is_left(spelled, monkeypatch):
    """With the results of one process."""
    from concurrent.futures import ThreadPoolExecutor

    asked = []

    def client(address, **_):
        asked.append(address)
        return SimpleNamespace(get_executor=lambda: ThreadPoolExecutor(1))

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=client))
    monkeypatch.setattr("gpusim.scenario.sweeps.parallel.SERIAL_S", 0.0)
    assert sweep(loads(spelled), STAGES, dask="tcp://far:1") == sweep(loads(spelled), STAGES, workers=1)
    assert asked == ["tcp://far:1"]


def test_garbage_collector_is_left_as_it_was(spelled):
    """It leaves alone what is there only while a point runs; what a caller has set aside stays there."""
    sweep(loads(spelled), STAGES, workers=1)
    assert gc.get_freeze_count() == 0
    gc.freeze()
    try:
        sweep(loads(spelled), STAGES, workers=1)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
