"""Who takes the CTAs left after the last full wave: the rule, and the H200 as `last_wave` has recorded it."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware.launch.last_wave import Independent, deal_left_over, older_get_ahead
from tests.bench_rows import rows

SMS, SCHEDULERS = 132, 4


def test_ctas_that_end_together_are_followed_together():
    """Two slots that are free at once: half of the SMs take two of 132, the others none; three of 5 and one alone."""
    assert deal_left_over([1.0, 1.0], 0.1, 132, SMS) == (66, 0, 66)
    assert deal_left_over([1.0, 1.0, 1.0], 0.0, 5, 4) == (2, 0, 1, 1)


def test_ctas_that_end_apart_are_followed_one_by_one():
    """The second slot is free when all SMs have taken one; when SMs are as far apart as slots, all counts occur."""
    assert deal_left_over([1.0, 2.0], 0.1, 132, SMS) == (0, 132, 0)
    none, one, two = deal_left_over([1.0, 1.1], 0.1, 132, SMS)
    assert none == two
    assert 20 < two < 60
    assert none + one + two == SMS


def test_older_ctas_get_ahead_where_many_warps_queue():
    """More than four on a scheduler that issues most of the time; three if each has more chains than latency."""
    assert older_get_ahead(6.0, 0.9, 0.1, 0.0, Independent(4, 0))
    assert not older_get_ahead(4.0, 0.9, 0.1, 0.0, Independent(4, 0))
    assert not older_get_ahead(6.0, 0.5, 0.1, 0.0, Independent(4, 0))
    assert older_get_ahead(4.0, 0.9, 0.1, 0.0, Independent(16, 0))
    assert not older_get_ahead(3.0, 0.9, 0.1, 0.0, Independent(16, 0))


def test_older_ctas_get_ahead_where_shared_memory_is_busy():
    """From six warps on a scheduler on."""
    assert older_get_ahead(6.0, 0.3, 0.9, 0.0, Independent(4, 0))
    assert not older_get_ahead(4.5, 0.3, 0.9, 0.0, Independent(4, 0))
    assert not older_get_ahead(6.0, 0.3, 0.5, 0.0, Independent(4, 0))


def test_older_ctas_get_ahead_where_tensor_cores_are_busy():
    """With products that warps wait for, however many warps there are."""
    assert older_get_ahead(2.0, 0.3, 0.3, 0.37, Independent(4, 16))
    assert not older_get_ahead(4.0, 0.3, 0.5, 0.32, Independent(4, 16))
    assert not older_get_ahead(4.0, 0.3, 0.5, 0.4, Independent(4, 8))


def test_the_h200_deals_what_is_left_as_its_ctas_end():
    """From the recorded ends of the first wave: SMs that take none within a tenth of all, in nine of ten kernels."""
    off, recorded = [], rows("last_wave")
    assert len(recorded) == 351
    for row in recorded:
        ends = np.asarray(row["apart"])
        found = deal_left_over(ends, row["sm_spread"], row["grid"] - SMS * row["ctas_per_sm"], SMS)
        off.append(abs(found[0] - row["taken"][0]) / SMS)
    assert np.quantile(off, 0.9) < 0.1


def on_each_scheduler(**where: object) -> list[tuple[int, dict]]:
    """Rows of the bench whose warps are equally many on all schedulers, behind how many that are."""
    found = [(divmod(row["warps"] * row["ctas_per_sm"], SCHEDULERS), row) for row in rows("last_wave", **where)]
    return [(warps, row) for (warps, rest), row in found if not rest]


UNLIKE = {"none": {(6, 2): 3, (4, 3): 3}, "ahead": {(4, 3): 3, (12, 2): 6}, "waited": {}}
"""Where the rule of few warps is wrong, by (warps, CTAs): with how many on a scheduler. Three are an odd number."""


@pytest.mark.parametrize("load", UNLIKE)
def test_few_warps_share_evenly_on_the_h200(load: str):
    """Kernels that compute most of the time: up to four warps on each scheduler end within 10 %, six and more do not.

    But for the rows that are named, in which it is the other way round.
    """
    found = on_each_scheduler(load=load, fmas=256, values=4)
    assert len(found) == 11
    wrong = {}
    for warps, row in found:
        measured = row["apart"][-1] > 0.1
        if older_get_ahead(warps, 0.9, 0.1, 0.0, Independent(row["values"], 0)) != measured:
            wrong[row["warps"], row["ctas_per_sm"]] = warps
    assert wrong == UNLIKE[load]


@pytest.mark.parametrize("load", ["none", "ahead", "waited"])
def test_warps_with_many_chains_let_older_ctas_get_ahead_on_the_h200(load: str):
    """Sixteen values each: up to three warps on a scheduler end within 10 %, from four on they do not."""
    found = on_each_scheduler(load=load, fmas=256, values=16)
    assert len(found) == 11
    for warps, row in found:
        ahead = older_get_ahead(warps, 0.9, 0.1, 0.0, Independent(row["values"], 0))
        assert ahead == (row["apart"][-1] > 0.1), row


@pytest.mark.parametrize(("load", "fmas"), [("none", 64), ("none", 256), ("waited", 256)])
def test_many_warps_that_load_from_shared_memory_end_apart_on_the_h200(load: str, fmas: int):
    """Kernels that do little else."""
    recorded = rows("last_wave", load=load, fmas=fmas, values=0)
    found = [(row["warps"] * row["ctas_per_sm"] / SCHEDULERS, row) for row in recorded]
    several = [(warps, row) for warps, row in found if warps >= 2.0]
    assert len(several) == 11
    for warps, row in several:
        assert older_get_ahead(warps, 0.3, 0.9, 0.0, Independent(4, 0)) == (row["apart"][-1] > 0.05), row
