"""From one CTA to the next on an SM: how fast they are handed out, and what a start takes."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Load, Mix, Store
from gpusim.timeline.critical_path import critical_path
from tests.bench_rows import rows
from tests.tile_programs import one_role, padded, textbook


def test_ctas_are_handed_out_one_after_another():
    """Eight slots, CTAs of 10 cycles: the first eight 5 ns apart, then one CTA per SM every 132 ns."""
    program = padded(one_role(Compute(Mix(ffma=10)), warps=1, grid=132 * 16), 8)
    device = textbook(launch__cta_interval="1 ns", launch__first_wave_interval="5 cycles")
    timeline = simulate_kernel(program, device, exact=True)
    starts = sorted(i.start_s * 1e9 for i in timeline if i.kind == "compute" and i.lane.startswith("sm[0]"))
    filled = [5.0 * number for number in range(8)]
    assert starts == pytest.approx(filled + [40.0 + 132.0 * number for number in range(8)])


def test_the_first_wave_begins_as_on_the_h200():
    """CTAs of an SM follow each other within 30 cycles, whatever their size; a few wait for instructions."""
    gaps = [gap for row in rows("first_wave") for gap in row["gap_cycles"]]
    assert np.median(gaps) == pytest.approx(load_profile("h200_sxm").value("launch.first_wave_interval"), rel=0.01)
    assert np.mean(np.array(gaps) <= 30.0) > 0.8


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


SHORT = {
    ("nothing", 0, 1): Mix(setup=3, interleaved=1, ldc=2),
    ("nothing", 8, 1): Mix(setup=3, interleaved=2, ldc=2),
    ("nothing", 16, 1): Mix(setup=3, interleaved=2, ldc=2),
    ("nothing", 32, 1): Mix(setup=3, interleaved=2, ldc=2),
    ("nothing", 64, 1): Mix(setup=3, interleaved=2, ldc=2),
    ("load", 0, 1): Mix(setup=8, interleaved=8, ldc=4),
    ("masked", 0, 1): Mix(setup=7, interleaved=5, ldc=4),
    ("store", 0, 1): Mix(setup=8, interleaved=4, ldc=4),
    ("store", 0, 4): Mix(setup=9, interleaved=14, pipe_stalls=9, ldc=4),
    ("store", 32, 1): Mix(setup=5, interleaved=8, ldc=4),
    ("store_dram", 0, 1): Mix(setup=8, interleaved=4, ldc=4),
}
"""What `gpusim count` finds in the CTAs that come and go of the bench, besides their FFMAs, loads and stores."""
SHORT_WORST, SHORT_MEAN = 0.2, 0.06


def waves_of(row: dict, waves: int) -> float:
    """Predicted total of so many waves of such CTAs, in cycles."""
    profile = load_profile("h200_sxm")
    warps, stored = row["block"] // 32, 0.0 if row["end"] == "store_dram" else 1.0
    ops = [Compute(SHORT[row["end"], row["work"], row["stores"]]), Compute(Mix(ffma=row["work"], ilp=1.0))]
    if row["end"] == "load":
        ops.append(Load(4 * row["block"], width=4, l2_hit=1.0))
    if row["end"].startswith("store"):
        ops += [Store(4 * row["block"], width=4, l2_hit=stored)] * row["stores"]
    program = padded(one_role(*ops, warps=warps, grid=132 * row["ctas_per_sm"] * waves), row["ctas_per_sm"])
    return simulate_kernel(program, profile, trace=False).meta["total_s"] * profile.clock_hz


def test_short_ctas_take_turns_as_on_the_h200():
    """Their warps start one after another, and load their parameters one after another over the whole SM."""
    off, short = [], [row for row in rows("launch") if row["kind"] == "short"]
    assert len(short) == 55
    for row in short:
        off.append((waves_of(row, 40) - waves_of(row, 8)) / 32.0 / row["cycles_per_wave"] - 1.0)
        assert abs(off[-1]) <= SHORT_WORST, row
    assert sum(map(abs, off)) / len(off) <= SHORT_MEAN


def test_what_short_ctas_wait_for_goes_back_to_the_first():
    """The critical path passes from CTA to CTA, so that it is nearly as long as the kernel."""
    program = one_role(Load(4096), Compute(Mix(ffma=64)), Store(4096), warps=8, grid=132 * 64)
    timeline = simulate_kernel(program, load_profile("h200_sxm"))
    path = critical_path(timeline)
    first, last = timeline.span_s
    assert sum(path.by_kind.values()) > 0.8 * (last - first)
    assert path.bottleneck != "launch"
