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

MEAN, WORST = 0.037, 0.172
"""Relative errors, as they are. The worst is a stencil of a quarter million short CTAs with a shared load per tap: one
CTA per SM is within 5 %, eight queue for the hand-out of CTAs, issue slots and shared memory all at once
(docs/model.md). How far it is off depends on the pseudo-random order in which its CTAs come: 13 to 18 % with five
orders that were tried, so that the 15 % (and a mean of 3.5 %) of before were one of them; 17.0 % was 16.99 before what
it writes into L2 no longer held up its loads. Matrix multiplications of 8 x 8 per thread and n-body are 6 to 8 % too
slow, of 16 x 16 per CTA 9 % and a transpose 8 % too fast."""


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
