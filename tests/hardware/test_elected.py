"""Bulk copies of a role of several warps: one thread of it asks for them, however its warps are simulated."""

from __future__ import annotations

import pytest

from gpusim.program import Ring, Role, TmaLoad, WaitFull
from gpusim.scenario import from_data, predict
from tests.tile_programs import kernel, textbook, total_ns

RINGS = {"input": {"stages": 3, "bytes": 16384}, "output": {"stages": 3, "bytes": 16384}}


def total_s(warps: int, load: list | None = None, grid: int = 264, **ring: int) -> float:
    """Of a copy by bulk loads and stores, the stores by a role of so many warps."""
    roles = {
        "producer": {"warps": 1, "per_tile": [{"acquire": "input"}, *(load or [{"tma_load": "input"}])]},
        "worker": {
            "warps": warps,
            "per_tile": [
                {"wait": "input"},
                {"bulk_wait": 2},
                {"named_barrier": {"id": 1, "warps": warps}},
                {"store_shared": {"ring": "output", "bytes": 0}},
                {"release": "input"},
                {"tma_store": "output"},
            ],
            "epilogue": [{"bulk_wait": 0}],
        },
    }
    rings = {**RINGS, "input": {**RINGS["input"], **ring}}
    kernel = {"grid": grid, "tiles_per_cta": 31, "rings": rings, "roles": roles}
    return predict(from_data({"question": "?", "device": "h200_sxm", "kernel": kernel}, "test"), trace=False).total_s


@pytest.mark.parametrize("warps", [2, 3, 8])
def test_a_bulk_store_is_asked_for_once(warps):
    """By any number of warps within 5 % of the time that one needs."""
    assert total_s(warps) == pytest.approx(total_s(1), rel=0.05)


def test_two_bulk_loads_may_fill_a_stage():
    """A stage is full when both have arrived, as if it were told so."""
    halves = [{"tma_load": {"ring": "input", "bytes": 8192}}] * 2
    assert total_s(4, halves) == total_s(4, halves, full_arrivals=2)


def test_further_copies_of_a_stage_cost_less_than_the_first():
    """One thread announces the bytes of all: 77 cycles each on the H200, where the first takes 101."""
    few, many = (
        total_s(4, [{"tma_load": {"ring": "input", "bytes": 16384 // pieces}}] * pieces) for pieces in (64, 128)
    )
    assert (many - few) * 1.98e9 / 31 / 64 == pytest.approx(77, rel=0.05)


def test_rows_that_lanes_ask_for_together_take_so_long_each():
    """Of 32 a stage 77 cycles one by one, 55 by the lanes of a warp."""
    rows = {"ring": "input", "bytes": 512}
    one_by_one = [{"repeat": {"times": 32, "ops": [{"tma_load": rows}]}}]
    together = [{"tma_load": {"ring": "input", "copies": 32}}]
    each = (total_s(1, one_by_one, grid=1) - total_s(1, together, grid=1)) / 31 / 32 * 1.98e9
    assert each == pytest.approx(77 - 51, abs=3)


def test_what_lanes_ask_for_arrives_while_the_rest_is_asked_for():
    """32 rows in four parts, of which only the last quarter follows the time that asking takes."""
    rows = Role("worker", 1, lambda _tiles: iter([TmaLoad("r", 4096, copies=32, tile=0), WaitFull("r", tile=0)]))
    device = textbook(tma__issue_elected="100 cycles", sm__setup_latency="1 cycles", tma__l2_latency="50 cycles")
    found = total_ns(kernel(rows, tiles=1, rings=(Ring("r", 1, 4096),)), device)
    assert found == pytest.approx(3200 + 50 + 1024 / 32, abs=5)
