"""Sectors, lines, granules and blocks of one warp instruction, counted by hand."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.access import Access, access_of
from gpusim.hardware.memory.l1 import l1_bytes
from gpusim.hardware.sm.compute import ComputeModel
from gpusim.hardware.sm.costs import MemoryBatch, MemoryIssue
from gpusim.program import Compute, Load, Mix, Role, Store, WaitLoads
from tests.bench_rows import rows
from tests.tile_programs import NS, kernel, one_role, textbook, total_ns


def counts(width, **pattern):
    """(sectors, lines, granules, blocks) of one instruction of 32 lanes."""
    access, wanted = access_of(width, **pattern), 32 * width
    return tuple(round(value * wanted, 6) for value in (access.sectors, access.lines, access.granules, access.blocks))


@pytest.mark.parametrize("width", [4, 8, 16])
def test_neighbours_need_no_more_than_their_bytes(width):
    """32 × width bytes in a row."""
    total = 32 * width
    assert counts(width) == (total / 32, total / 128, total / 64, total / 256)
    assert access_of(width).dense
    assert access_of(width, stride=width) is access_of(width)


@pytest.mark.parametrize(
    ("width", "stride", "expected"),
    [
        (4, 8, (8, 2, 4, 1)),  # half of every sector
        (4, 32, (32, 8, 16, 4)),  # a sector each
        (4, 64, (32, 16, 32, 8)),  # every other sector
        (4, 128, (32, 32, 32, 16)),  # a line each, two in a block
        (16, 256, (32, 32, 32, 32)),  # a block each
        (16, 1024, (32, 32, 32, 32)),
        (8, 24, (24, 6, 12, 3)),  # 768 bytes in a row, of which a third is wanted
    ],
)
def test_strides(width, stride, expected):
    """Lanes ``stride`` bytes apart."""
    assert counts(width, stride=stride) == expected
    assert not access_of(width, stride=stride).dense


@pytest.mark.parametrize(
    ("scatter", "expected"),
    [(16, (32, 32, 32, 32)), (64, (16, 8, 8, 8)), (128, (16, 4, 8, 4)), (512, (16, 4, 8, 2))],
)
def test_scattered_blocks(scatter, expected):
    """16 bytes a lane; a block of 64 bytes holds 4 lanes, one of 16 bytes a single one."""
    assert counts(16, scatter=scatter) == expected


def test_whole_lines_anywhere_are_dense_for_the_load_store_unit_but_not_for_dram():
    """128 bytes fill their line, and half a block of DRAM."""
    access = access_of(16, scatter=128)
    assert access.dense
    assert access.blocks == pytest.approx(2 / 256)


def test_l2_gives_a_request_no_less_than_its_minimum():
    """A sector of 32 bytes takes the time of 64 if that is the least, and L2 is what limits."""
    slow = {"l2__read_bandwidth": "132 GB/s", "l2__read_request_bytes": "64 B"}
    dense = total_ns(one_role(Load(4096), warps=4, grid=132), textbook(**slow))
    apart = total_ns(one_role(Load(4096, width=4, stride=128), warps=4, grid=132), textbook(**slow))
    assert dense == pytest.approx(4096, abs=10)
    assert apart == pytest.approx(4096 / 4 * 64, abs=80)


def test_opening_a_block_of_dram_is_paid_for_once_per_block():
    """With half a block's time for opening it, a granule alone costs (0.5 × 256 + 0.5 × 64) / 64 times its bytes."""
    slow = {"hbm__read_bandwidth": "132 GB/s", "hbm__read_block_share": 0.5}
    dense = total_ns(one_role(Load(4096), warps=4, grid=132), textbook(**slow))
    alone = total_ns(one_role(Load(4096, width=4, scatter=4), warps=4, grid=132), textbook(**slow))
    assert dense == pytest.approx(4096, abs=10)
    assert alone == pytest.approx(4096 / 4 * 160, abs=80)


def test_blocks_in_order_are_opened_quicker_than_scattered_ones():
    """A stride of 256 bytes with a quarter of a block's time for opening it: (0.25 × 256 + 0.75 × 64) / 64."""
    slow = {"hbm__read_bandwidth": "132 GB/s", "hbm__read_block_share": 0.5, "hbm__read_block_share_strided": 0.25}
    strided = total_ns(one_role(Load(4096, width=4, stride=256), warps=4, grid=132), textbook(**slow))
    assert strided == pytest.approx(4096 / 4 * 112, abs=80)


@pytest.mark.parametrize(("completed", "expected"), [(0.0, 160), (0.5, 82), (1.0, 4)])
def test_what_others_read_of_a_block_is_not_paid_for(completed, expected):
    """Of 4 bytes alone 160 are paid, as above; of those around which others read the rest only themselves."""
    slow = {"hbm__read_bandwidth": "132 GB/s", "hbm__read_block_share": 0.5}
    loads = Load(4096, width=4, scatter=4, completed=completed)
    found = total_ns(one_role(loads, warps=4, grid=132), textbook(**slow))
    assert found == pytest.approx(4096 / 4 * expected, abs=80)


def test_sectors_written_in_part_are_read_first():
    """4 of every 8 bytes: 8192 bytes of sectors are read and written, 16,384 in all."""
    slow = {"hbm__read_bandwidth": "132 GB/s", "hbm__write_bandwidth": "132 GB/s"}
    whole = total_ns(one_role(Store(4096, width=4), warps=4, grid=132), textbook(**slow))
    part = total_ns(one_role(Store(4096, width=4, stride=8), warps=4, grid=132), textbook(**slow))
    assert whole == pytest.approx(4096, abs=60)
    assert part == pytest.approx(16384, abs=60)


@pytest.mark.parametrize(
    ("shared", "ctas", "left"),
    [(0, 8, 248), (27 * 1024, 8, 28), (99 * 1024, 1, 156), (100 * 1024, 1, 124), (0, 1, 248)],
)
def test_l1_has_what_the_carve_out_leaves(shared, ctas, left):
    """256 KiB in all; a CTA takes 1 KiB more than it asks for; the driver knows steps of 8, 16, 32, 64, 100 … KiB."""
    assert l1_bytes(load_profile("h200_sxm"), shared, ctas) == left * 1024


def test_loads_that_find_no_room_in_l1_wait_for_earlier_ones():
    """64 KiB through an L1 of 28 KiB: issuing ends when the last part goes out, three parts before the end."""

    def ended(shared):
        program = one_role(Load(65536, wait=False), Compute(Mix(ffma=1)), WaitLoads(), warps=4, shared_bytes=shared)
        timeline = simulate_kernel(program, textbook(sm__l1_and_shared_memory="256 KiB"), exact=True)
        issue = next(timeline[i] for i in range(len(timeline)) if timeline[i].kind == "issue")
        return issue.duration_s / NS, timeline.total_s / NS

    free, total = ended(0)
    blocked, same = ended(227 * 1024)
    assert free == pytest.approx(32, abs=1)
    assert same == pytest.approx(total, rel=0.02)
    # A part is 64 KiB / 10; 28 KiB hold four of them.
    assert blocked == pytest.approx((65536 - 4 * 6554) / 32, rel=0.05)


def test_loads_that_began_first_get_room_in_l1_first():
    """Two roles with 64 KiB each: the one that begins 500 cycles later gets room when the other has issued it all."""

    def role(name, first):
        return Role(name, 4, lambda _tiles: iter([*first, Load(65536)]))

    roles = role("early", []), role("late", [Compute(Mix(ffma=500))])
    program = kernel(*roles, shared_bytes=227 * 1024)
    timeline = simulate_kernel(program, textbook(sm__l1_and_shared_memory="256 KiB"), exact=True)
    loads = [timeline[i] for i in range(len(timeline)) if timeline[i].kind == "load"]
    ended = {load.lane.split(".")[-1]: load.end_s / NS for load in loads}
    assert ended["early"] == pytest.approx(65536 / 32, rel=0.02)
    assert ended["late"] == pytest.approx(2 * 65536 / 32, rel=0.02)


@pytest.mark.parametrize(
    ("width", "pattern", "expected"),
    [
        (4, {}, 1), (16, {}, 4), (4, {"stride": 8}, 2), (4, {"stride": 12}, 1), (4, {"stride": 128}, 32),
        (16, {"stride": 32}, 8), (4, {"stride": 2}, 1), (4, {"scatter": 128}, 1), (16, {"scatter": 128}, 4),
    ],
)  # fmt: skip
def test_banks_of_l1_are_those_of_shared_memory(width, pattern, expected):
    """A turn for each word that one of 32 banks has to give; of wide ones as many lanes at once as want 128 bytes."""
    assert access_of(width, **pattern).wavefronts * 32 * width == pytest.approx(expected)


def test_words_anywhere_meet_in_banks_by_chance():
    """The fullest of 32 banks has 3.5 of 32 words on average."""
    assert access_of(4, scatter=4).wavefronts * 128 == pytest.approx(3.5, abs=0.4)


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row['lines']}-{row['apart']}-{row['table']}")
                                 for row in rows("gather") if row["warps"] == 32])  # fmt: skip
def test_gathers_from_l1_take_as_long_as_on_the_h200(row):
    """Lines that meet in banks one by one; others three in a cycle."""
    turns = 1.0 if row["apart"] else float(row["lines"])
    passes = Access(0.0, row["lines"] / 128, 0.0, 0.0, turns / 128, dense=False).passes(1.0)
    batch = MemoryBatch(1.0, 0.0, 0.0, passes, 4, MemoryIssue(1.0, 1.0))
    cost = ComputeModel(load_profile("h200_sxm")).memory_cost(batch)
    # One that takes less than two cycles waits for the instructions around it.
    assert max(cost.requests, 1.7) == pytest.approx(row["cycles_per_load"], rel=0.2)
