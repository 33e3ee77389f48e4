"""What comes and goes in order of address has more of HBM, or waits less for it."""

from __future__ import annotations

import pytest

from gpusim.hardware.memory.address_order import reads_in_order, writes_in_order
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import Load, Store, WaitLoads
from tests.bench_rows import rows
from tests.tile_programs import one_role, textbook, tma_ring, total_ns

SIZE = 4096


@pytest.mark.parametrize(
    ("cta_bytes", "resident", "grid", "expected"),
    [(4096, 100, 10**9, 1.0), (16384, 100, 200, 0.5), (131072, 0, 1, 0.4), (1 << 20, 0, 1, 0.0), (4096, 8, 8, 0.0)],
)
def test_writes_of_ctas_that_come_and_go_are_in_order(cta_bytes, resident, grid, expected):
    """All of the gain up to 16 KiB a CTA, a fifth less with each octave, for the CTAs that were not there at first."""
    assert writes_in_order(cta_bytes, resident, grid) == pytest.approx(expected, abs=1e-6)


def test_writes_in_order_have_more_of_hbm():
    """4000 CTAs that write 4 KiB each: HBM takes 25 % more, but for those resident from the start."""
    device = {"hbm__write_bandwidth": "132 GB/s", "hbm__write_in_order_gain": "0.25"}
    program = one_role(Store(SIZE), warps=4, grid=132 * 64, registers=64)
    apart, in_order = (
        total_ns(program, textbook(**part)) for part in ({**device, "hbm__write_in_order_gain": 0}, device)
    )
    resident = 132 * 8
    assert apart / in_order == pytest.approx(1 + 0.25 * (1 - resident / program.grid), rel=0.02)


def part(program, resident=132):
    """Of the gain of reads."""
    return reads_in_order(program, Traffic.of(program), resident)


def test_reads_of_ctas_that_ask_for_all_at_once_are_in_order():
    """But for those that are there from the beginning."""
    assert part(one_role(Load(SIZE), grid=132 * 4)) == pytest.approx(0.75)
    assert part(one_role(Load(SIZE), grid=132)) == 0.0


def test_each_further_turn_of_a_cta_takes_its_share():
    """Four tiles through one stage are four turns, eight through four stages two."""
    assert part(tma_ring(1, tiles=4, grid=132 * 4)) == pytest.approx(0.75 / 4)
    assert part(tma_ring(4, tiles=8, grid=132 * 4)) == pytest.approx(0.75 / 2)


def test_loads_of_a_tile_that_wait_for_each_other_are_turns():
    """Two that are waited for one after the other are two, two on the way at once are one."""
    one_by_one = one_role(Load(SIZE), Load(SIZE), grid=132 * 4)
    together = one_role(Load(SIZE, wait=False), Load(SIZE, wait=False), WaitLoads(), grid=132 * 4)
    assert part(one_by_one) == pytest.approx(0.75 / 2)
    assert part(together) == pytest.approx(0.75)


@pytest.mark.parametrize("access", [{"stride": 64}, {"scatter": 64}])
def test_reads_with_gaps_are_not_in_order(access):
    """Whatever CTA comes next."""
    assert part(one_role(Load(SIZE, width=16, **access), grid=132 * 4)) == 0.0


def test_beside_writes_order_changes_nothing():
    """Loads wait for the writes."""
    assert part(one_role(Load(SIZE), Store(SIZE), grid=132 * 4)) == 0.0


def test_reads_in_order_wait_less():
    """8000 CTAs whose loads wait for a crowded HBM: with a fifth of the wait they are through sooner."""
    device = {"hbm__read_bandwidth": "4 TB/s", "hbm__queue_time": "1000 ns"}
    program = one_role(Load(SIZE), warps=4, grid=132 * 64, registers=64)
    anywhere, in_order = (total_ns(program, textbook(**device, hbm__queue_in_order=left)) for left in (1.0, 0.2))
    assert in_order < 0.8 * anywhere


def test_measured_reads_gain_less_with_each_turn_of_a_cta():
    """Pieces in order against pieces anywhere, where nothing is saturated: 5 % and more, and 1 % from 16 turns on."""
    found: dict[int, dict[bool, list[float]]] = {}
    for row in rows("in_order"):
        if row["kind"] == "pieces" and row["op"] == "read" and row["unroll"] == 1 and row["ctas_per_sm"] <= 6:
            found.setdefault(row["turns"], {}).setdefault(row["in_order"], []).append(row["bytes_per_s"])
    gain = {turns: sum(pair[True]) / sum(pair[False]) - 1.0 for turns, pair in found.items()}
    assert gain[1] > 0.05
    assert gain[1] > gain[2] > gain[4] > gain[16]
    assert gain[16] < 0.02
