"""What a prediction costs against the size of the work; run with ``--benchmark-enable``, nothing is asserted.

The cost should follow the structure of a kernel: not SMs, hardly tiles and warps, some the resident CTAs.
"""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from tests.tile_programs import technique

H200 = load_profile("h200_sxm")
BASE = {
    "tile_bytes": 16384, "stages": 3, "fma_per_element": 16, "consumer_warps": 4, "ctas_per_sm": 1,
    "grid": 132, "tiles_per_cta": 200,
}  # fmt: skip


def program(**changes):
    """The warp-specialised kernel with some parameters changed."""
    found = technique("tma_warp_specialized")
    return found.build(found.make_params({**BASE, **changes}))


def total(benchmark, kernel, profile=H200, **options):
    """Benchmark a prediction without intervals."""
    timeline = benchmark(simulate_kernel, kernel, profile, **{"trace": False, **options})
    benchmark.extra_info["extrapolated"] = timeline.meta["extrapolated_s"] / timeline.total_s


@pytest.mark.parametrize("sms", [1, 16, 132, 1024])
def test_cost_against_sms(benchmark, sms):
    """Equal SMs are simulated once."""
    total(benchmark, program(grid=sms), H200.overridden({"sm.count": sms}))


@pytest.mark.parametrize("tiles", [20, 200, 2000, 200_000])
def test_cost_against_tiles_per_cta(benchmark, tiles):
    """A periodic loop is extrapolated."""
    total(benchmark, program(tiles_per_cta=tiles))


@pytest.mark.parametrize("waves", [1, 4, 32, 256])
def test_cost_against_waves(benchmark, waves):
    """So are waves of CTAs."""
    total(benchmark, program(grid=132 * waves, tiles_per_cta=10))


@pytest.mark.parametrize("waves", [32, 256, 8192])
def test_cost_against_waves_of_ctas_that_share_an_sm(benchmark, waves):
    """These get out of step."""
    total(benchmark, program(ctas_per_sm=4, grid=4 * 132 * waves, tiles_per_cta=10))


@pytest.mark.parametrize("warps", [2, 4, 5, 8, 13, 16])
def test_cost_against_warps(benchmark, warps):
    """Warps in the same place on schedulers are one lane; odd numbers make more kinds of schedulers."""
    total(benchmark, program(consumer_warps=warps))


@pytest.mark.parametrize("stages", [1, 2, 4, 8])
def test_cost_against_stages(benchmark, stages):
    """The longer the turn, the more tiles until a period is seen."""
    total(benchmark, program(stages=stages))


@pytest.mark.parametrize("ctas", [1, 2, 3, 4])
def test_cost_against_ctas_per_sm(benchmark, ctas):
    """Resident CTAs are all simulated."""
    total(benchmark, program(ctas_per_sm=ctas, grid=132 * ctas))


@pytest.mark.parametrize("kind", ["total only", "with intervals", "every tile"])
def test_cost_of_what_is_asked(benchmark, kind):
    """Intervals, and a run without extrapolation."""
    total(benchmark, program(), trace=kind != "total only", exact=kind == "every tile")
