"""Real kernels on the attached GPU, measured anew: they compute what NumPy computes, and time stamps change nothing.

How long they take is for recordings to say, not for tests.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from realkernels._harness import measure

pytestmark = pytest.mark.gpu

TILES = ("sync_tile", "cp_async_multistage", "tma_warp_specialized", "three_role", "register_prefetch", "stencil2d")
"""Tile pipelines whose insides are recorded."""


@pytest.mark.parametrize("name", TILES)
def test_a_kernel_is_measured_with_and_without_time_stamps(name):
    """The output is checked against NumPy, and that of the instrumented build against the plain one."""
    technique = measure.technique_named(name)
    params = technique.params()
    launcher = technique.launch(params).prepare()
    assert launcher.check() <= 1.0
    times = launcher.time(repeats=5)
    assert 0.0 < times.median_s < 1.0
    timeline = launcher.timeline(times.median_s)
    assert timeline.meta["dropped"] == 0
    assert timeline.meta["total_s"] == times.median_s
    assert 0.0 <= timeline.meta.get("hidden_fraction", 0.0) <= 1.0
    # Lanes are called as the prediction calls them, and every tile was computed.
    predicted = simulate_kernel(technique.build(params), load_profile("h200_sxm"))
    first = re.compile(r"^sm\[0\]\.cta\[0\]\.[a-z_]+$")
    assert {lane for lane in timeline.lanes if first.match(lane)} <= set(predicted.lanes)
    computed = timeline.mask(lanes=r"^sm\[0\]\.cta\[0\]\.", kinds=("compute",)) & (timeline.tile >= 0)
    tiles = min(params.tiles_per_cta, 150)
    assert set(np.unique(timeline.tile[computed])) == set(range(tiles))


def test_all_techniques_of_one_kernel_compute_what_numpy_computes():
    """With their default parameters."""
    for name in measure.measurable():
        technique = measure.technique_named(name)
        launcher = technique.launch(technique.params()).prepare()
        assert launcher.check() <= 1.0, name
        launcher.release()
