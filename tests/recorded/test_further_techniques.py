"""The techniques built on top of the first three, against every recording of the H200; none is left out.

The bands are where the model stands, not where it should: what is missing is in docs/model.md (known gaps).
"""

from __future__ import annotations

import statistics

import pytest

from gpusim.scenario import predict_params, techniques
from gpusim.scenario.parallel import run_parallel
from gpusim.validation.recording import TOTALS, TotalRow, Totals

DEVICE = "h200_sxm"
BANDS = {
    # Loads beside stores are too fast: reads alone were measured under load.
    "three_role": (0.10, 0.32),
    # CTAs of one SM stay in step on the device, and the issue of many loads blocks.
    "register_prefetch": (0.08, 0.22),
    # Restart of short work items, the last wave of CTAs, and tiles of 40 KiB and more.
    "persistent": (0.08, 0.33),
    # Independent warps of a single CTA are kept in step by the model.
    "occupancy_sweep": (0.05, 0.27),
}
"""Mean and worst absolute error of the total."""


def _error(job: tuple[int, str, TotalRow]) -> tuple[int, float]:
    """Its number, since results come in any order, and the signed relative error of the total."""
    number, name, row = job
    found = techniques()[name]
    predicted = predict_params(found, found.make_params(dict(row.params)), DEVICE, trace=False)
    return number, predicted.total_s / row.total_s - 1.0


@pytest.mark.parametrize("name", BANDS)
def test_totals_are_within_the_band(name):
    """On failure the five worst rows are shown."""
    rows = Totals.load(techniques()[name].folder / "recorded" / DEVICE / TOTALS).rows
    errors = dict(run_parallel(_error, [(number, name, row) for number, row in enumerate(rows)], workers=2))
    assert len(errors) == len(rows) >= 80
    worst = sorted(errors, key=lambda number: -abs(errors[number]))[:5]
    shown = "\n".join(f"{errors[number]:+7.1%} {dict(rows[number].params)}" for number in worst)
    mean, most = BANDS[name]
    assert statistics.fmean(map(abs, errors.values())) <= mean, shown
    assert max(map(abs, errors.values())) <= most, shown
