"""The techniques built on top of the first three, against every recording of the H200; none is left out.

The bands are where the model stands, not where it should: what is missing is in docs/model.md (known gaps).
"""

from __future__ import annotations

import pytest

from tests.recorded.predictions import assert_within, points

BANDS = {
    # A load and a store that are asked for within a few cycles: who is first costs the other one 200 ns, and with one
    # stage each it is the store on the device and the load here (two rows, 18 % too fast; two stages: 2 %). Mean 0.045
    # until loads waited longer for an HBM that mixing fills (`loaded`).
    "three_role": (0.034, 0.2),
    # CTAs of one SM that stay in step on the device and take turns here, or the reverse. Worst 0.18 until the oldest
    # CTA went first, which drives those apart whose loads nothing hides: kernels bound by what an SM issues came nearer
    # (`turns`, and of those written from the docs alone 10 instead of 15 %).
    # Worst 0.2 until shared memory stood behind loads without room in L1 (`behind_loads`).
    "register_prefetch": (0.036, 0.17),
    # Restart of short work items, the last wave of CTAs, and tiles of 40 KiB and more. Mean 0.04 and worst 0.2 until
    # the oldest CTA went first: four CTAs of 16 warps and items of a few tiles.
    "persistent": (0.042, 0.225),
    "occupancy_sweep": (0.019, 0.06),
    # L2 that holds part of what is swept over; sweeps of few threads over 8 MiB, which go faster than the bench `l2`
    # says L2 can (0.29 until 22 more kernels were recorded, of which one is 38 % too slow: 37.9 until
    # `dram.latency` was measured over all SMs, 38.3 since). Else within 18 %, but for five that HBM or L2 bounds.
    "strided_access": (0.06, 0.385),
    # Starts of CTAs by the ten thousand, and the first wave's weights. Worst 0.23 until the program said how far the
    # compiler loads ahead: fewer loads than an output has, where registers hold all weights.
    "conv1d_async": (0.043, 0.155),
    # One warp that does everything: what is around its loop is taken for a single chain. Mean 0.05 until loads waited
    # longer for an HBM that mixing fills.
    "stencil2d": (0.04, 0.23),
    # Spilled values, some of which L1 holds; without spills the worst is 14 %. 0.32 until what is spilled once per tile
    # was counted too: the mean and random kernels (one 52 % too fast) came nearer, one case went from 29 to 33 %. 0.34
    # until 22 more kernels were recorded, 8.7 % off on average: one CTA per SM of four warps finds in L1 what it
    # spilled, and is taken to wait for L2. Mean 0.07 until L2 had a way in and one out (`l2`, `loaded`), with which
    # copies within L2 are 1 instead of 38 % off: one for both had made up for warps that swap in turn. Mean 0.09 until
    # SMs that store the same lines again and again ended one after the other. Worst 0.57 until lines left L1 one by one
    # (mean 0.059 before, 0.058 now).
    "register_split": (0.06, 0.58),
    # CTAs that share tiles drift apart over several waves, and L2 then gives each its own: 2 CTAs an SM, up to 39 % too
    # fast, and the device's own runs 12 % apart. Few turns and one stage of 256 columns: up to 23 % too slow.
    "gemm": (0.07, 0.4),
}
"""Mean and worst absolute error of the total."""


@pytest.mark.parametrize("name", BANDS)
def test_totals_are_within_the_band(name):
    """Of many recordings."""
    found = points(name)
    assert len(found) >= 80
    assert_within(found, BANDS[name])
