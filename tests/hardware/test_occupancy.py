"""Occupancy against the rules of CUDA, computed by hand, by NVIDIA's header, and by the driver."""

from __future__ import annotations

import dataclasses

import pytest

from gpusim.errors import DoesNotFit
from gpusim.hardware import load_profile, occupancy, resident_ctas
from gpusim.validation.recording import Totals
from tests.tile_programs import TECHNIQUES, technique, tma_ring

H200 = load_profile("h200_sxm")

HEADER = (
    "1 16 0 32", "32 32 0 32", "33 32 0 32", "32 84 0 20", "64 96 0 10", "96 168 0 4", "128 24 0 16", "128 33 0 12",
    "128 128 20000 4", "128 32 6272 16", "128 32 6273 16", "64 32 2625 32", "160 48 0 8", "160 32 232448 1",
    "192 80 40000 4", "224 72 0 4", "256 32 0 8", "256 64 115712 2", "256 65 0 3", "256 255 0 1", "288 40 0 5",
    "288 32 57216 4", "352 56 0 3", "384 168 0 1", "416 32 75904 3", "448 40 0 3", "512 64 100000 2", "512 128 0 1",
    "544 32 0 3", "544 56 0 2", "640 96 0 1", "768 80 0 1", "800 72 0 1", "1000 32 0 2", "1024 33 0 1",
    "1024 64 232448 1",
)  # fmt: skip
"""threads, registers, dynamic shared bytes, CTAs: ``cudaOccMaxActiveBlocksPerMultiprocessor`` of the
``cuda_occupancy.h`` of CUDA 13.0 for compute capability 9.0 (opt-in shared memory, largest carve-out)."""


def ctas(threads=128, registers=16, shared_bytes=0):
    """CTAs per SM and the resource that admits no more."""
    found = resident_ctas(H200, threads=threads, registers=registers, shared_bytes=shared_bytes)
    return found.ctas_per_sm, found.limiter


@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        (1024, (2, "warps")),  # 32 warps: 64 / 32 = 2
        (128, (16, "warps")),  # 4 warps: 64 / 4 = 16
        (96, (21, "warps")),  # 3 warps: 64 / 3 = 21.3
        (33, (32, "ctas")),  # 2 warps, one thread in the second: 64 / 2 = 32, as many as there may be CTAs
        (32, (32, "ctas")),  # 1 warp: 64 would fit, 32 CTAs is the limit
    ],
)
def test_warps_and_ctas_per_sm(threads, expected):
    """64 warps and 32 CTAs on an SM."""
    assert ctas(threads=threads) == expected


@pytest.mark.parametrize(
    ("threads", "registers", "expected"),
    [
        # 33 × 32 = 1056 → 5 units of 256 = 1280; ⌊16384 / 1280⌋ = 12 warps a scheduler, 48 in all; 48 / 4 = 12
        (128, 33, 12),
        # 128 × 32 = 4096; 16384 / 4096 = 4 a scheduler, 16 in all; 16 / 4 = 4
        (128, 128, 4),
        # 255 × 32 = 8160 → 8192; 2 a scheduler, 8 in all; 8 / 8 = 1
        (256, 255, 1),
        # 168 × 32 = 5376; 3 a scheduler, 12 in all; 12 / 12 = 1
        (384, 168, 1),
        # 65 × 32 = 2080 → 2304; 7 a scheduler, 28 in all; 28 / 8 = 3
        (256, 65, 3),
        # 40 × 32 = 1280; 12 a scheduler, 48 in all; 48 / 9 = 5: warps in a scheduler's quarter need no multiple of 4
        (288, 40, 5),
    ],
)
def test_registers_of_a_schedulers_quarter(threads, registers, expected):
    """Each scheduler has 16,384 registers; a warp takes units of 256."""
    assert ctas(threads=threads, registers=registers) == (expected, "registers")


@pytest.mark.parametrize(
    ("shared_bytes", "expected"),
    [
        (227 * 1024, 1),  # 227 + 1 KiB reserved = 228 KiB, all there is
        (113 * 1024, 2),  # 2 × (113 + 1) = 228 KiB
        (113 * 1024 + 1, 1),  # one byte more takes another 128 B
        (75 * 1024, 3),  # 3 × 76 = 228 KiB
        (56 * 1024, 4),  # 4 × 57 = 228 KiB
        (13568, 16),  # 13568 + 1024 = 14592 = 114 × 128; 233472 / 14592 = 16
        (13569, 15),  # 115 × 128 = 14720; 233472 / 14720 = 15.9
    ],
)
def test_shared_memory_in_units_of_128_bytes_with_the_reserve(shared_bytes, expected):
    """228 KiB on an SM; every CTA takes 1 KiB more than it asks for."""
    assert ctas(threads=32, shared_bytes=shared_bytes) == (expected, "shared_memory")


@pytest.mark.parametrize("line", HEADER)
def test_header_of_the_toolkit_agrees(line):
    """Every row that NVIDIA's own calculation gave."""
    threads, registers, shared_bytes, expected = map(int, line.split())
    assert ctas(threads, registers, shared_bytes)[0] == expected


@pytest.mark.parametrize("name", TECHNIQUES)
def test_driver_agrees_on_every_recorded_kernel(name):
    """``max_active_ctas`` of each recording, from its registers and shared memory and from the program alone."""
    found = technique(name)
    rows = Totals.load(found.folder / "recorded" / "h200_sxm" / "totals.json").rows
    wrong = []
    for row in rows:
        program = found.build(found.make_params(dict(row.params)))
        compiled = dataclasses.replace(program, registers=row.registers, shared_bytes=row.shared_bytes)
        counts = occupancy(compiled, H200).ctas_per_sm, occupancy(program, H200).ctas_per_sm
        if counts != (row.max_active_ctas, row.max_active_ctas):
            wrong.append((dict(row.params), counts, row.max_active_ctas))
    assert not wrong


@pytest.mark.parametrize(
    ("given", "demand", "bound", "unit", "lever"),
    [
        ({"threads": 1056}, 1056, 1024, "threads", "fewer threads"),
        ({"registers": 256}, 256, 255, "registers", "fewer values"),
        ({"shared_bytes": 240 * 1024}, 240 * 1024, 227 * 1024, "bytes", "fewer stages"),
        # 17 warps count as 20: 20 × 128 × 32 = 81,920 registers of 65,536
        ({"threads": 544, "registers": 128}, 81920, 65536, "registers", "fewer threads"),
    ],
)
def test_what_does_not_fit_says_how_much_and_what_to_change(given, demand, bound, unit, lever):
    """Demand, bound, unit and lever; the message has them all and the device."""
    given = {"threads": 128, "registers": 32, "shared_bytes": 0, "name": "my kernel", **given}
    with pytest.raises(DoesNotFit) as caught:
        resident_ctas(H200, **given)
    error = caught.value
    assert (error.demand, error.bound, error.unit) == (demand, bound, unit)
    assert lever in error.lever
    assert str(error).startswith("my kernel needs ")
    assert "h200_sxm allows " in str(error)
    assert error.lever in str(error)


def test_occupancy_counts_idle_warps_and_the_fraction():
    """5 warps of work and 3 idle ones: 8 × 8 of 64 warps."""
    program = dataclasses.replace(tma_ring(2), idle_warps=3)
    found = occupancy(program, H200)
    assert (found.ctas_per_sm, found.warps_per_sm, found.fraction) == (8, 64, 1.0)
    assert found.limits["shared_memory"] == 25  # 8192 + 1024 = 9216; 233472 / 9216 = 25.3
