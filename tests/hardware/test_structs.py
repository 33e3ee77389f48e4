"""Sectors that several stores write in part, against closed forms and the bench `structs`."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.store_coalescing import WARPS_OF_AN_SM, merged_part
from gpusim.program import Compute, Load, Mix, Role, Store, SyncThreads, WaitLoads
from tests.bench_rows import rows
from tests.tile_programs import kernel

WARPS, BYTES = 8, 1 << 30


def predicted_s(row: dict, **store: float) -> float:
    """Of a kernel of the bench: each thread writes so many values side by side, one store each."""
    width, count = row["width"], row["count"]

    def body(tiles):
        for tile in range(tiles):
            yield Compute(Mix(setup=8, ldc=2), tile=tile)
            if row["read"] != "none":
                for _ in range(1 if row["read"] == "one" else count):
                    yield Load(32 * WARPS * width, width=width, wait=False, tile=tile)
                yield WaitLoads(tile=tile)
            for _ in range(count):
                stride = width * count if row["write"] == "structs" else 0
                yield Store(32 * WARPS * width, width=width, stride=stride, tile=tile, **store)

    program = kernel(Role("all", WARPS, body), tiles=1, grid=BYTES // (32 * WARPS * width * count))
    return simulate_kernel(program, load_profile("h200_sxm"), trace=False).total_s


def test_values_lane_beside_lane_are_as_quick_as_on_the_h200():
    """Read, written or both, of 4 to 16 bytes: within 5 %."""
    found = [row for row in rows("structs", write="dense") if row["read"] in ("none", "dense")]
    assert len(found) == 18
    for row in found:
        assert predicted_s(row) == pytest.approx(row["seconds"], rel=0.05), row


@pytest.mark.parametrize(
    ("count", "read", "within"), [(2, "none", 0.15), (2, "dense", 0.21), (2, "one", 0.15), (4, "dense", 0.05)]
)
def test_float4_of_structures_complete_each_others_sectors(count, read, within):
    """Two or four of them in 32 or 64 bytes of each lane.

    Of two, which L1 puts together in part, the model has that part within a third: 0, 0.2 and 0.3 on the device. How
    many wait decides it: two that are read lane beside lane are 20 instead of 15 % too fast since loads wait longer for
    an HBM that mixing fills (`loaded`; `in_order`, copies: 1.4 instead of 2.9 % off).
    """
    (row,) = rows("structs", width=16, count=count, read=read, write="structs")
    assert predicted_s(row, completed=1.0) == pytest.approx(row["seconds"], rel=within)


def test_structures_of_up_to_16_bytes_pass_once():
    """L1 puts them together: as on the H200 within 12 %, where without it they would take up to 3.7 times as long.

    Within 8 until loads waited longer for an HBM that mixing fills, and within 11 until a fifth of reads among writes
    cost what it does (`few_writes`, 1:4 within 1 %): too slow with one read for two and more writes.
    """
    found = [
        row for row in rows("structs", write="structs")
        if row["width"] * row["count"] <= 16 and row["read"] in ("none", "one")
    ]  # fmt: skip
    assert len(found) == 6
    for row in found:
        assert predicted_s(row, completed=1.0) == pytest.approx(row["seconds"], rel=0.12), row


def test_narrow_values_of_structures_pass_sector_by_sector():
    """Of 4 and 8 bytes in 32 and 64 of each lane: L2 is busy with parts of sectors, within 20 %."""
    found = [
        row for row in rows("structs", write="structs")
        if row["width"] < 16 and row["width"] * row["count"] >= 32 and row["read"] in ("none", "dense")
    ]  # fmt: skip
    assert len(found) == 6
    for row in found:
        assert predicted_s(row, completed=1.0) == pytest.approx(row["seconds"], rel=0.2), row


def test_what_nobody_completes_is_read_first():
    """Half of each sector: much more than the time of sectors that others complete."""
    (row,) = rows("structs", width=16, count=2, read="none", write="structs")
    assert predicted_s(row) > 1.5 * predicted_s(row, completed=1.0)


def test_fewer_stores_meet_in_l1_the_more_lines_they_touch_and_the_more_wait():
    """As the bench has it: all of 8 lines one warp at a time, none where all wait; two thirds and none of 16."""
    kept, crowd = (load_profile("h200_sxm").value(f"lsu.merging_{name}") for name in ("lines", "crowd"))
    alone, crowded = (
        [merged_part(lines, waiting, kept, crowd) for lines in (2, 4, 8, 16, 32)] for waiting in (0, WARPS_OF_AN_SM)
    )
    assert alone == pytest.approx([1.0, 1.0, 0.96, 0.68, 0.0], abs=0.04)
    assert crowded == pytest.approx([0.98, 0.88, 0.03, 0.0, 0.0], abs=0.05)
    assert merged_part(2, 0, 0.0, crowd) == 0.0


def test_warps_that_meet_store_all_at_once():
    """Pairs of float4 behind a barrier pass twice, where warps on their own have them put together."""

    def body(met: bool):
        def ops(tiles):
            for tile in range(tiles):
                yield Load(512 * WARPS, tile=tile)
                yield from (SyncThreads(tile=tile),) if met else ()
                for _ in range(2):
                    yield Store(512 * WARPS, stride=32, completed=1.0, tile=tile)

        return ops

    device = load_profile("h200_sxm")
    alone, met = (
        simulate_kernel(kernel(Role("all", WARPS, body(met)), tiles=1, grid=1 << 15), device, trace=False).total_s
        for met in (False, True)
    )
    assert met > 1.15 * alone
