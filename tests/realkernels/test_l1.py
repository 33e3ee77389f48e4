"""What is found again in L1: the constants follow from the microbenchmarks they are said to come from."""

from __future__ import annotations

from statistics import fmean

import pytest

from realkernels._parts import l1
from realkernels._parts.hopper import L1_AND_SHARED_PER_SM
from realkernels._parts.l1 import MISSED_CYCLES, cyclic_hit
from tests.bench_rows import rows

KIB = 1 << 10
WARP = 32


def off(device: str) -> list[float]:
    """Predicted less counted fractions of hits, for 6 to 168 KiB in an L1 of 28, 92 and 224 to 248."""
    found = []
    for row in rows("local_hits", device):
        footprint = row["local_bytes"] * WARP * row["warps"]
        predicted = cyclic_hit(footprint, L1_AND_SHARED_PER_SM - KIB * row["carve_out_kib"])
        found.append(predicted - row["hit_sectors"] / row["load_sectors"])
    assert len(found) == 117
    return found


@pytest.mark.parametrize("device", ["h200_sxm", "h100_sxm"])
def test_hits_are_those_counted(device, monkeypatch) -> None:
    """0.03 off on average; 0.48 where L1 has little more room than values, which is all or nothing."""
    errors = off(device)
    assert fmean(map(abs, errors)) <= 0.035
    assert max(map(abs, errors)) <= 0.48
    for other in (0, 8 * KIB):
        monkeypatch.setattr(l1, "OTHER_BYTES", other)
        assert fmean(map(abs, off(device))) > fmean(map(abs, errors))


def test_what_fits_is_found_and_what_is_much_more_is_not() -> None:
    assert cyclic_hit(23 * KIB) == 1.0
    assert 0.2 < cyclic_hit(36 * KIB) < 0.6
    assert cyclic_hit(256 * KIB) < 1e-3
    hits = [cyclic_hit(size * KIB) for size in range(1, 200)]
    assert hits == sorted(hits, reverse=True)


def test_a_value_that_l1_does_not_hold_comes_later_by_what_was_measured() -> None:
    """A lone warp's values one after the other, all found, and those of eight warps, none found and nothing full."""
    (found,) = rows("local", op="both", apart=True, values=64, warps=1, shared_kib=224, pause=0, sms=132)
    (missed,) = rows("local", op="both", apart=True, values=64, warps=8, shared_kib=224, pause=0, sms=132)
    assert (missed["cycles"] - found["cycles"]) / 64 == pytest.approx(MISSED_CYCLES, rel=0.01)
