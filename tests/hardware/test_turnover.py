"""From one CTA to the next on an SM: how fast they are handed out, and what a start takes."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Mix
from tests.bench_rows import rows
from tests.tile_programs import one_role, padded, textbook


def test_ctas_are_handed_out_one_after_another():
    """Eight slots, CTAs of 10 cycles, one CTA per SM every 132 ns: the ninth starts when the eight before have been."""
    program = padded(one_role(Compute(Mix(ffma=10)), warps=1, grid=132 * 16), 8)
    timeline = simulate_kernel(program, textbook(launch__cta_interval="1 ns"), exact=True)
    starts = sorted(i.start_s * 1e9 for i in timeline if i.kind == "compute" and i.lane.startswith("sm[0]"))
    assert starts == pytest.approx([132.0 * number for number in range(1, 17)])


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row['block']}-{row['ctas_per_sm']}")
                                 for row in rows("launch") if row["kind"] == "turnover"])  # fmt: skip
def test_waves_of_empty_ctas_take_as_long_as_on_the_h200(row):
    """Bound by the hand-out where many fit, by the start where one does."""
    profile = load_profile("h200_sxm")
    program = padded(one_role(Compute(Mix()), warps=row["block"] // 32, grid=1), row["ctas_per_sm"])
    few, many = (
        simulate_kernel(program.resized(grid=132 * row["ctas_per_sm"] * waves, tiles_per_cta=1), profile).meta[
            "total_s"
        ]
        for waves in (8, 40)
    )
    assert (many - few) / 32.0 * profile.clock_hz == pytest.approx(row["cycles_per_wave"], rel=0.13)
