"""The design of experiments is repeatable, fits the GPU and covers the space."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from importlib import import_module

import pytest

from gpusim.scenario import techniques
from gpusim.timeline import TimelineBuilder
from gpusim.validation.recording import save_timeline
from realkernels._harness.design import design_of
from realkernels._harness.timeline_names import timeline_name

ALL = ("sync_tile", "cp_async_multistage", "tma_warp_specialized")
"""Tile pipelines with the common design."""
TECHNIQUES = [import_module(f"realkernels.{name}").TECHNIQUE for name in ALL]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=ALL)
def test_points_fit_and_are_neither_too_short_nor_too_long(technique) -> None:
    """At least 90 different points within the bounds, the same on every call."""
    points = design_of(technique).points()
    assert points == design_of(technique).points()
    assert len({timeline_name(p) for p in points}) == len(points) >= 90
    for p in points:
        assert technique.build(p).shared_bytes + 1024 <= 228 * 1024 // p.ctas_per_sm
        assert 8 << 20 <= p.grid * p.tiles_per_cta * p.tile_bytes <= 6 << 30


def test_every_technique_has_names_for_its_timelines(tmp_path) -> None:
    """Readable ones where a file takes them, others where a parameter is 0.0002 s."""
    for name, technique in techniques().items():
        found = timeline_name(technique.params())
        save_timeline(tmp_path / f"{name}.npz", found, TimelineBuilder().build())
        assert found == timeline_name(technique.params())
    assert timeline_name(techniques()["sync_tile"].params()).startswith("tb16384_fpe16_")
    assert len(timeline_name(techniques()["concurrent_kernels"].params())) == len("case-") + 12


@pytest.mark.parametrize("technique", TECHNIQUES, ids=ALL)
def test_points_reach_into_every_corner(technique) -> None:
    """Each parameter takes low and high values; most tile sizes are not round."""
    points = [asdict(p) for p in design_of(technique).points()]
    assert {p["ctas_per_sm"] for p in points} == {1, 2, 3, 4}
    assert min(p["tile_bytes"] for p in points) < 2500
    assert max(p["tile_bytes"] for p in points) > 50000
    assert max(p["fma_per_element"] for p in points) > 200
    assert min(p["fma_per_element"] for p in points) == 0
    assert sum(p["tile_bytes"] % 1024 != 0 for p in points) > 0.9 * len(points)


@pytest.mark.parametrize("technique", TECHNIQUES[1:], ids=ALL[1:])
def test_stage_groups_differ_in_stages_alone(technique) -> None:
    """At least ten groups, each with one stage and more."""
    groups = design_of(technique).compared()
    assert len(groups) >= 10
    for group in groups:
        rest = {tuple(v for k, v in asdict(p).items() if k != "stages") for p in group}
        assert len(rest) == 1
        assert group[0].stages == 1
        assert len(group) >= 4


@pytest.mark.parametrize("technique", TECHNIQUES, ids=ALL)
def test_timeline_points_are_small(technique) -> None:
    """One wave, at most 64 tiles per CTA, room for the observer warp."""
    points = design_of(technique).with_timelines()
    assert len(points) == 10
    for p in points:
        assert p.tiles_per_cta <= 64
        assert p.grid == 132 * p.ctas_per_sm
        assert p.ctas_per_sm * (technique.build(p).warps + 1) <= 64


def test_measuring_needs_numpy_and_cupy_alone() -> None:
    """Nothing on the measuring path imports what a GPU machine may lack."""
    code = """
import sys
for name in ("pydantic", "simpy", "plotly", "dash", "yaml", "typer", "rich"):
    sys.modules[name] = None
import realkernels._harness.measure
for name in ("sync_tile", "cp_async_multistage", "tma_warp_specialized"):
    technique = realkernels._harness.measure.technique_named(name)
    technique.launch(technique.params()).plan.spec(instrumented=True)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
