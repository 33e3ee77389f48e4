"""Sectors that several stores write in part, against closed forms and the bench `structs`."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Load, Mix, Role, Store, WaitLoads
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
                for _ in range(count):
                    yield Load(32 * WARPS * width, width=width, wait=False, tile=tile)
                yield WaitLoads(tile=tile)
            for _ in range(count):
                stride = width * count if row["write"] == "structs" else 0
                yield Store(32 * WARPS * width, width=width, stride=stride, tile=tile, **store)

    program = kernel(Role("all", WARPS, body), tiles=1, grid=BYTES // (32 * WARPS * width * count))
    return simulate_kernel(program, load_profile("h200_sxm"), trace=False).total_s


def test_values_lane_beside_lane_are_as_quick_as_on_the_h200():
    """Read, written or both, of 4 to 16 bytes: within 5 %."""
    for row in rows("structs", write="dense"):
        if row["read"] in ("none", "dense"):
            assert predicted_s(row) == pytest.approx(row["seconds"], rel=0.05), row


@pytest.mark.parametrize(("count", "read", "within"), [(2, "none", 0.05), (2, "dense", 0.05), (4, "dense", 0.05)])
def test_float4_of_structures_complete_each_others_sectors(count, read, within):
    """Two or four of them in 32 or 64 bytes of each lane."""
    (row,) = rows("structs", width=16, count=count, read=read, write="structs")
    assert predicted_s(row, completed=1.0) == pytest.approx(row["seconds"], rel=within)


def test_narrow_values_of_structures_pass_sector_by_sector():
    """Of 4 and 8 bytes in 32 and 64 of each lane: L2 is busy with parts of sectors, within 20 %."""
    for row in rows("structs", write="structs"):
        if row["width"] < 16 and row["width"] * row["count"] >= 32 and row["read"] in ("none", "dense"):
            assert predicted_s(row, completed=1.0) == pytest.approx(row["seconds"], rel=0.2), row


def test_what_nobody_completes_is_read_first():
    """Half of each sector: much more than the time of sectors that others complete."""
    (row,) = rows("structs", width=16, count=2, read="none", write="structs")
    assert predicted_s(row) > 1.5 * predicted_s(row, completed=1.0)
