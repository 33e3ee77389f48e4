"""Lanes that part ways, against the bench `parting` on an H200: what they cost is the same in other company."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware.profile import load_profile
from tests.bench_rows import rows

PROFILE = load_profile("h200_sxm")


def lost(join: str, warps: int) -> list[float]:
    """Cycles of a turn that are lost by lanes which part ways in one warp or in all."""
    found = rows("parting", join=join, warps=warps)
    whole = {(row["fmas"], row["vectors"]): row["cycles_per_turn"] for row in found if row["lanes"] == 32}
    return [row["cycles_per_turn"] - whole[row["fmas"], row["vectors"]] for row in found if 0 < row["lanes"] < 32]


@pytest.mark.parametrize(
    ("join", "key", "least"), [("bsync", "sm.divergent_branch", 0.1), ("warpsync", "sm.divergent_syncwarp", 0.8)]
)
def test_warps_with_company_lose_no_more(join, key, least):
    """One warp a scheduler as much as one alone. Others hide a part of it, of the short way most."""
    each = PROFILE.value(key)
    assert np.mean(lost(join, 4)) == pytest.approx(each, rel=0.1)
    for warps in (8, 16):
        assert least * each < np.mean(lost(join, warps)) < 1.05 * each


def test_a_warp_whose_lanes_all_leave_loses_nothing():
    """Nobody waits for anybody; to within 5 cycles."""
    found = rows("parting", join="warpsync", parted=1, lanes=0, warps=4)
    whole = {
        (r["fmas"], r["vectors"]): r["cycles_per_turn"] for r in rows("parting", join="warpsync", warps=4, lanes=32)
    }
    assert all(abs(row["cycles_per_turn"] - whole[row["fmas"], row["vectors"]]) < 5 for row in found)
