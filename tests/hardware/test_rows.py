"""Tiles in rows by cp.async: how often they pass, against the bench that measured it, and what L2 is asked for."""

from __future__ import annotations

import json

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.access import DENSE
from gpusim.hardware.memory.alignment import Alignment, Start, access_of_rows, turns
from gpusim.program import CommitGroup, CpAsync, KernelProgram, Ring, Role, WaitGroup
from realkernels.microbench.bench import HERE

BENCH = json.loads((HERE / "recorded" / "h200_sxm" / "rows.json").read_text(encoding="utf-8"))["rows"]
KIB = 1024


@pytest.mark.parametrize(
    ("row", "pitch", "cycles"),
    [
        (128, 128, 8),
        (64, 64, 16),
        (64, 96, 20),
        (32, 48, 48),
        (128, 160, 14),
        (128, 192, 12),
        (128, 144, 21),
        (64, 80, 30),
    ],
)
def test_turns_of_a_kib(row, pitch, cycles):
    """By hand: one for each line in which some of a line lands, two where whole sectors are split."""
    assert turns(row, pitch) * KIB == pytest.approx(cycles)


def test_one_sm_takes_what_it_took():
    """Every pattern of the bench within a tenth, with the warps that are quicker; most are exact: a turn is a cycle."""
    best: dict[tuple[int, int], float] = {}
    for row in BENCH:
        if row["ctas"] == 1 and not row["swizzled"]:
            key = row["row"], row["pitch"]
            best[key] = max(best.get(key, 0.0), row["bytes_per_cycle"])
    assert len(best) == 16
    profile = load_profile("h200_sxm")
    for (row, pitch), measured in best.items():
        rate = Alignment(profile).rate("cp_async", Start(128, row, pitch)) / profile.clock_hz
        assert rate == pytest.approx(measured, rel=0.1), (row, pitch)


def test_a_swizzle_within_the_line_costs_nothing():
    """As the bench says: rows of 64 and 128 bytes as without."""
    rate = {(r["row"], r["swizzled"]): r["bytes_per_cycle"] for r in BENCH
            if r["ctas"] == 1 and r["pitch"] == r["row"] and r["warps"] == 8}  # fmt: skip
    for row in (64, 128):
        assert rate[row, True] == pytest.approx(rate[row, False], rel=0.03)


def test_sectors_that_are_split_are_fetched_twice():
    """Half of rows 16 bytes longer begin off a sector; of rows 32 bytes longer none."""
    assert access_of_rows(128, 144).fetched == pytest.approx(1.5)
    assert access_of_rows(128, 160).fetched == 1.0
    assert access_of_rows(128, 128).lines == DENSE.lines
    assert access_of_rows(64, 64).lines == 2 * DENSE.lines


def copied(ctas: int, row: int, pitch: int) -> float:
    """Bytes per cycle and SM of a kernel that does nothing but copy from L2."""
    device, tiles, size = load_profile("h200_sxm"), 200, 16 * KIB

    def worker(tiles):
        for tile in range(tiles + 3):
            if tile < tiles:
                yield CpAsync("in", size, l2_hit=1.0, row=row, pitch=pitch, pieces=size // row, tile=tile)
            yield CommitGroup(tile=min(tile, tiles - 1))
            if tile >= 3:
                yield WaitGroup(3, tile=tile - 3)

    program = KernelProgram(
        "copies", ctas, tiles, (Role("all", 8, worker),), (Ring("in", 4, size // row * pitch),), registers=32,
        footprint_bytes=8 << 20,
    )  # fmt: skip
    seconds = simulate_kernel(program, device, trace=False, clean=False).total_s - device.value("launch.overhead")
    return tiles * size / (seconds * device.clock_hz)


@pytest.mark.parametrize(("row", "pitch"), [(128, 128), (128, 144), (64, 80)])
def test_all_sms_take_what_they_took(row, pitch):
    """From L2: 35 to 39, 23 and 21 to 22 bytes a cycle each."""
    measured = [r["bytes_per_cycle"] for r in BENCH
                if (r["row"], r["pitch"], r["ctas"]) == (row, pitch, 132) and r["source_pitch"] > row]  # fmt: skip
    assert 0.8 * min(measured) < copied(132, row, pitch) < 1.25 * max(measured)
