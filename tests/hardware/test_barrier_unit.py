"""Barriers of several CTAs of an SM take turns at one unit, against the bench `barrier_unit` on an H200 and an H100."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Role, SyncThreads
from tests.bench_rows import rows
from tests.tile_programs import kernel, padded

SMS = 132
SHORT, LONG = 40, 120


def predicted(device: str, warps: int, ctas: int) -> float:
    """Cycles from one barrier of each CTA to the next."""
    profile = load_profile(device)
    role = Role("worker", warps, lambda tiles: (SyncThreads(tile=tile) for tile in range(tiles)))
    times = [
        simulate_kernel(padded(kernel(role, grid=SMS * ctas, tiles=turns), ctas), profile, exact=True, trace=False)
        for turns in (SHORT, LONG)
    ]
    return (times[1].total_s - times[0].total_s) / (LONG - SHORT) * profile.clock_hz


def full(device: str) -> list[dict]:
    """Rows in which 64 warps arrive at the same time."""
    found = [
        row for row in rows("barrier_unit", device) if row["warps"] * row["ctas_per_sm"] == 64 and row["warps"] > 1
    ]
    assert len(found) == 4
    return found


@pytest.mark.parametrize("device", ["h200_sxm", "h100_sxm"])
def test_a_warp_takes_two_cycles_of_it(device):
    """As many as it adds to a barrier that is alone: what an arrival and a release take."""
    profile = load_profile(device)
    each = profile.value("barrier.arrive_per_warp") + profile.value("barrier.release_per_warp")
    for row in full(device):
        assert row["cycles"] / 64 == pytest.approx(each, rel=0.06), row


def test_ctas_take_turns_at_it():
    """Where it is full, 64 warps at the same time."""
    for row in full("h200_sxm"):
        assert predicted("h200_sxm", row["warps"], row["ctas_per_sm"]) == pytest.approx(row["cycles"], rel=0.1), row
