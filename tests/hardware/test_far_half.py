"""Requests that the far half of L2 serves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpusim.hardware import simulate_kernel
from gpusim.hardware.memory.loaded_latency import far_part
from gpusim.hardware.profile import load_profile
from gpusim.program import KernelProgram, Load, Op, Role

H200 = load_profile("h200_sxm")
BENCH = Path(__file__).parents[2] / "realkernels/microbench/recorded/h200_sxm/far.json"
MIB = 1 << 20


def reading(footprint_bytes: int, scatter: int) -> KernelProgram:
    """Warps that read a footprint in L2, at random places of ``scatter`` bytes or, if 0, side by side."""

    def worker(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield Load(16 * 512 * 16, width=16, l2_hit=1.0, scatter=scatter, tile=tile)

    return KernelProgram(
        "reading", grid=4 * 132, tiles_per_cta=40, roles=(Role("worker", 16, worker),), footprint_bytes=footprint_bytes
    )


def took_s(footprint_mib: int, scatter: int) -> float:
    """Predicted seconds."""
    timeline = simulate_kernel(reading(footprint_mib * MIB, scatter), H200, trace=False)
    return timeline.meta["total_s"] - timeline.meta["launch_s"]


def test_half_of_l2_is_near():
    """Up to half of it all is near; of twice as much half is far."""
    assert far_part(0.0, 60.0) == far_part(30.0, 60.0) == 0.0
    assert far_part(60.0, 60.0) == 0.5


@pytest.mark.parametrize("size", [16, 32, 36])
def test_random_sectors_take_l2_longer_as_in_the_bench(size: int):
    """Against 8 MiB."""
    rates = {row["footprint_bytes"]: row["sectors_per_cycle"] for row in json.loads(BENCH.read_text())["rows"]}
    assert took_s(size, 32) / took_s(8, 32) == pytest.approx(rates[8 * MIB] / rates[size * MIB], rel=0.05)


def test_whole_lines_do_not():
    """Their bytes take longer than their request, from either half."""
    assert took_s(36, 0) == pytest.approx(took_s(8, 0), rel=0.02)
