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
    off = []
    for row in rows("last_wave"):
        ends = np.asarray(row["apart"])
        found = deal_left_over(ends, row["sm_spread"], row["grid"] - SMS * row["ctas_per_sm"], SMS)
        off.append(abs(found[0] - row["taken"][0]) / SMS)
    assert np.quantile(off, 0.9) < 0.1


@pytest.mark.parametrize("load", ["none", "ahead"])
def test_few_warps_share_evenly_on_the_h200(load: str):
    """Kernels that compute most of the time: 1, 2 or 4 warps on each scheduler end within 10 %, six and more do not."""
    for row in rows("last_wave"):
        if (row["load"], row["fmas"], row["values"]) != (load, 256, 4):
            continue
        warps, rest = divmod(row["warps"] * row["ctas_per_sm"], SCHEDULERS)
        if not rest and warps in (1, 2, 4):
            assert row["apart"][-1] < 0.1
        elif older_get_ahead(warps, 0.9, 0.1, 0.0, Independent(row["values"], 0)):
            assert row["apart"][-1] > (0.2 if row["ctas_per_sm"] > 2 else 0.05)


@pytest.mark.parametrize("load", ["none", "ahead", "waited"])
def test_warps_with_many_chains_let_older_ctas_get_ahead_on_the_h200(load: str):
    """Sixteen values each: up to three warps on a scheduler end within 10 %, from four on they do not."""
    for row in rows("last_wave"):
        if (row["load"], row["fmas"], row["values"]) != (load, 256, 16):
            continue
        warps, rest = divmod(row["warps"] * row["ctas_per_sm"], SCHEDULERS)
        if not rest:
            ahead = older_get_ahead(warps, 0.9, 0.1, 0.0, Independent(row["values"], 0))
            assert ahead == (row["apart"][-1] > 0.1), row


@pytest.mark.parametrize(("load", "fmas"), [("none", 64), ("none", 256), ("waited", 256)])
def test_many_warps_that_load_from_shared_memory_end_apart_on_the_h200(load: str, fmas: int):
    """Kernels that do little else."""
    for row in rows("last_wave", load=load, fmas=fmas, values=0):
        warps = row["warps"] * row["ctas_per_sm"] / SCHEDULERS
        if warps >= 2.0:
            assert older_get_ahead(warps, 0.3, 0.9, 0.0, Independent(4, 0)) == (row["apart"][-1] > 0.05), row
