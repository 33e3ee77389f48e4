"""How late the slowest of many CTAs is, against statistics."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import pytest

from gpusim.hardware import load_profile
from gpusim.hardware.memory.loaded_latency import expected_maximum
from gpusim.hardware.sm.imbalance import lateness_cycles, rewriting_part, waited_lines
from gpusim.program import Load
from tests.bench_rows import rows
from tests.tile_programs import one_role


@pytest.mark.parametrize("count", [2, 8, 20, 132, 528, 5000])
def test_expected_maximum_of_normal_numbers(count):
    """Against the mean over 2000 seeded draws."""
    draws = np.random.default_rng(7).standard_normal((2000, count)).max(axis=1)
    assert expected_maximum(count) == pytest.approx(fmean(draws), rel=0.06, abs=0.06)


@pytest.mark.parametrize("count", [0, 1])
def test_one_cta_is_not_late(count):
    """There is nothing to be slower than."""
    assert expected_maximum(count) == 0
    assert lateness_cycles(100, count, jitter=50, drift=0, load=0) == 0


def test_a_warp_waits_for_what_it_loads_itself():
    """A part of what all warps of its role load, or all of it where it is the only one that does."""
    assert waited_lines(one_role(Load(4096), warps=4)) == 8
    assert waited_lines(one_role(Load(4096, warps=1), warps=4)) == 32


def test_walk_grows_with_the_root_and_drift_with_the_number_of_waits():
    """Four times the waits: twice the walk, four times the drift; they add up as chances do."""
    walk = [lateness_cycles(waits, 132, jitter=100, drift=0, load=0) for waits in (25, 100)]
    drift = [lateness_cycles(waits, 132, jitter=0, drift=3, load=0) for waits in (25, 100)]
    assert walk[1] == pytest.approx(2 * walk[0])
    assert drift[1] == pytest.approx(4 * drift[0])
    assert drift[0] == pytest.approx(75 * expected_maximum(132))
    both = lateness_cycles(25, 132, jitter=100, drift=3, load=0)
    assert both == pytest.approx(math.hypot(walk[0], drift[0]))


def test_walk_is_the_expected_maximum_of_a_sum():
    """Sum of n latencies has standard deviation jitter × √n: E[max of 132] ≈ 2.6 of it."""
    sums = np.random.default_rng(3).normal(0, 100, (300, 132, 50)).sum(axis=2).max(axis=1)
    assert lateness_cycles(50, 132, jitter=100, drift=0, load=0) == pytest.approx(fmean(sums), rel=0.06)


@pytest.mark.parametrize(("load", "share"), [(0.0, 1.0), (0.5, 0.75), (1.0, 0.0), (1.2, 0.0)])
def test_saturated_memory_evens_the_sms_out(load, share):
    """What one SM leaves is used by the others."""
    assert lateness_cycles(50, 132, 100, 3, load) == pytest.approx(share * lateness_cycles(50, 132, 100, 3, 0.0))


def test_the_last_cta_is_as_late_as_on_the_h200():
    """Single warps that load and never meet, 16 to 1024 times, pieces of 128 and 512 bytes: within 20 % on average."""
    h200 = load_profile("h200_sxm")
    jitter, drift = (h200.value(f"dram.{key}") for key in ("latency_jitter", "drift"))
    ratios = [
        lateness_cycles(row["turns"], 132, jitter, drift, 0.0) / (row["last_cycles"] - row["cta_cycles"])
        for row in rows("walk", source="dram", streams=1, meeting=False, warps=1, ctas=132)
        if (row["order"], row["turns"]) != ("parts", 16)  # some have to wait for a translation
    ]
    assert len(ratios) > 20
    assert fmean(abs(ratio - 1) for ratio in ratios) < 0.2
    assert fmean(ratios) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("load", "waves", "expected"), [(1.0, 1, 0.4), (0.7, 1, 0.2), (0.5, 1, 0.0), (1.0, 4, 0.1)])
def test_sms_that_write_the_same_lines_again_are_late(load, waves, expected):
    """By 4 over the root of their number where L2 takes no more, the last of the waves only."""
    assert rewriting_part(100, waves, 4.0, load) == pytest.approx(expected)


def test_the_slowest_sm_of_those_that_store_is_as_late_as_on_the_h200():
    """Of 4 to 16 warps that store 10 to 64 values each, again and again: within 6 % of the mean one's time."""
    spread = load_profile("h200_sxm").value("l2.rewritten_spread")
    found = [
        rewriting_part(row["warps"] * row["values"], 1, spread, 1.0) + 1 - row["cycles_slowest"] / row["cycles_mean"]
        for row in rows("local", op="store", pause=0, sms=132, shared_kib=224)
        if row["warps"] * row["values"] >= 64
    ]
    assert len(found) > 10
    assert fmean(map(abs, found)) < 0.06
