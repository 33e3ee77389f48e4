"""The techniques built on top of the first three, against every recording of the H200; none is left out.

The bands are where the model stands, not where it should: what is missing is in docs/model/limits.md.
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
    "register_prefetch": (0.034, 0.135),
    # Restart of short work items, the last wave of CTAs, and tiles of 40 KiB and more.
    "persistent": (0.035, 0.16),
    "occupancy_sweep": (0.019, 0.06),
    # L2 that holds part of what is swept over; sweeps of few threads over 8 MiB, which go faster than the bench `l2`
    # says L2 can (0.29 until 22 more kernels were recorded, of which one is 38 % too slow: 37.9 until
    # `dram.latency` was measured over all SMs, 38.3 since). Else within 18 %, but for five that HBM or L2 bounds.
    "strided_access": (0.06, 0.385),
    # Starts of CTAs by the ten thousand, and the first wave's weights. Worst 0.23 until the program said how far the
    # compiler loads ahead: fewer loads than an output has, where registers hold all weights.
    "conv1d_async": (0.043, 0.155),
    # One warp that does everything: what is around its loop is taken for a single chain.
    "stencil2d": (0.039, 0.175),
    # Spilled values, some of which L1 holds; without spills the worst is 14 %.
    "register_split": (0.05, 0.35),
    # Few turns, as what tiles find in L2 is a mean over the waves; two CTAs an SM that are near the edge at which SMs
    # move apart (the worst took 443 us when it was recorded, 370 to 383 on another device, predicted 324; 0.05 and
    # 0.195 until the bench `wgmma` no longer counted the code of its own loop as latency of the products; 324 until
    # what others have just read was no longer far, by which kernels of many turns are right, and 310 since).
    "gemm": (0.05, 0.305),
    # Three warpgroups behind a ring of one stage, and one of 64 queries with tiles of 64 keys, by two CTAs an SM.
    # Worst 0.185 until results in pieces of 16 bytes took the time that the bench `store_parts` shows.
    "attention": (0.05, 0.19),
    # Two stages and several CTAs an SM, where padded rows fill L2 and the slowest SM is later than the mean.
    "gemm_mma": (0.062, 0.25),
    # Eight consumers of each of eight CTAs behind a ring of five stages and more: 165 us with four, 190 with more.
    # 0.05 on average without the parts that peers load, which are 6.5 % off.
    "cluster_multicast": (0.055, 0.285),
}
"""Mean and worst absolute error of the total."""


@pytest.mark.parametrize("name", BANDS)
def test_totals_are_within_the_band(name):
    """Of many recordings."""
    found = points(name)
    assert len(found) >= 80
    assert_within(found, BANDS[name])
