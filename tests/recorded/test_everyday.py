"""Spelled-out kernels of the everyday kind against what the H200 needed for them.

They share no code with the techniques, and no number of a profile comes from them. What they said about shared loads,
registers and writes in order has benches of its own now, so they are no longer unseen.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

import gpusim
from gpusim.validation.recording import source_hash
from realkernels.everyday import CASES, KERNELS, RECORDED, SCENARIOS, TOTALS, Case

MEAN, WORST = 0.023, 0.087
"""Relative errors, as they are. The worst are a matrix multiplication of 4 x 4 per thread, 9 % too fast, which keeps
schedulers and shared memory nearly full at once, and a transpose, 8; next come a multiplication of 16 x 16 per CTA and
a stencil, 6 and 5 % too fast."""


@cache
def recorded() -> dict:
    """The recording of the H200."""
    return json.loads((RECORDED / "h200_sxm" / TOTALS).read_text(encoding="utf-8"))


@cache
def error(case: Case) -> float:
    """Predicted over measured, minus one."""
    scenario = gpusim.with_overrides(gpusim.load(SCENARIOS / f"{case.file}.yaml"), case.overrides)
    return gpusim.predict(scenario, trace=False).meta["total_s"] / recorded()["cases"][case.name]["total_s"] - 1.0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_everyday_kernels_take_as_long_as_predicted(case):
    """Within the worst error."""
    assert abs(error(case)) <= WORST


def test_the_mean_error_of_everyday_kernels():
    """Within the mean, and no case is recorded that is not predicted."""
    assert {case.name for case in CASES} == set(recorded()["cases"])
    assert sum(abs(error(case)) for case in CASES) / len(CASES) <= MEAN


def test_the_recording_is_of_these_kernels():
    """The source has not changed since."""
    assert recorded()["source_sha256"] == source_hash(KERNELS)
