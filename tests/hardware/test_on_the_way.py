"""Loads and copies of what others have just asked DRAM for: its latency, and none of its time."""

import pytest

from gpusim.errors import ScenarioError
from gpusim.hardware import simulate_kernel
from gpusim.program import CommitGroup, CpAsync, Load, Ring, TmaLoad, WaitFull, WaitGroup
from gpusim.scenario import loads
from tests.tile_programs import RING, one_role, textbook, total_ns

SIZE = 4096


def ops(unit: str, **hits: float):
    if unit == "load":
        return (Load(SIZE, **hits),)
    if unit == "cp_async":
        return CpAsync(RING, SIZE, tile=0, **hits), CommitGroup(tile=0), WaitGroup(0, tile=0)
    return TmaLoad(RING, SIZE, tile=0, **hits), WaitFull(RING, tile=0)


@pytest.mark.parametrize("unit", ["load", "cp_async", "tma_load"])
@pytest.mark.parametrize(
    ("hits", "waits", "busy"),
    [({}, 500, True), ({"l2_hit": 1.0}, 0, False), ({"l2_hit": 1.0, "on_the_way": 1.0}, 500, False)],
)
def test_what_is_on_the_way_is_waited_for_as_for_dram_and_costs_it_nothing(unit, hits, waits, busy):
    device = textbook(dram__latency="500 cycles", dram__latency_many_lines="500 cycles")
    rings = (Ring(RING, 1, SIZE),)
    near = total_ns(one_role(*ops(unit, l2_hit=1.0), rings=rings), device)
    program = one_role(*ops(unit, **hits), rings=rings)
    assert total_ns(program, device) - near == pytest.approx(waits, abs=2)
    assert (simulate_kernel(program, device).meta["hbm_busy"] > 0.0) is busy


def test_without_hits_there_is_nothing_on_the_way():
    text = """
question: q?
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 4
  roles: {worker: {warps: 1, per_tile: [{load: {bytes: 4 KiB, on_the_way: 1}}]}}
"""
    with pytest.raises(ScenarioError, match=r"on_the_way.*is a part of what is found in L2"):
        loads(text)
