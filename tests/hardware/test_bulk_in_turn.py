"""A bulk load and a bulk store of one CTA, against closed forms (textbook device) and the `tma_both` bench."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import BulkWait, Compute, Mix, Ring, Role, StoreShared, TmaLoad, TmaStore, WaitFull
from tests.bench_rows import rows
from tests.tile_programs import RING, kernel, textbook

OUT = "output"
SIZE = 4096
COPY = SIZE / 32
"""Cycles either copy occupies the unit of the textbook device."""


def pair(device, load, store, delay):
    """Cycles from asking to arrival of the load, and from asking to the end of the wait for the store's source.

    The store is asked for ``delay`` cycles after the load, or before it if negative.
    """

    def later(cycles):
        return (Compute(Mix(ffma=cycles, ilp=4.0)),) if cycles > 0 else ()

    def loader(_tiles):
        yield from later(-delay)
        yield TmaLoad(RING, load, l2_hit=1.0, tile=0)
        yield WaitFull(RING, tile=0)

    def storer(_tiles):
        yield StoreShared(0, ring=OUT, tile=0)
        yield from later(delay)
        yield TmaStore(OUT, store, tile=0)
        yield BulkWait(0, tile=0)

    rings = (Ring(RING, 1, load), Ring(OUT, 1, store))
    program = kernel(Role("loader", 1, loader), Role("storer", 1, storer), rings=rings)
    timeline = simulate_kernel(program, device, exact=True)
    (copied,), (stored,) = (np.flatnonzero(timeline.mask(kinds=(kind,), lanes=r"\[0\]$")) for kind in ("copy", "store"))
    return [(timeline.end_s[i] - timeline.start_s[i]) * device.clock_hz for i in (copied, stored)]


def test_a_load_waits_for_the_store_ahead_of_it():
    """The unit takes one after the other: the load needs what is left of the store and its own time."""
    load, store = pair(textbook(sm__count=1), SIZE, SIZE, -32)
    assert (load, store) == pytest.approx((2 * COPY - 32, COPY))


def test_a_store_waits_for_the_load_ahead_of_it():
    """And the other way round."""
    load, store = pair(textbook(sm__count=1), SIZE, SIZE, 32)
    assert (load, store) == pytest.approx((COPY, 2 * COPY - 32))


SIZES = [(16 << 10, 16 << 10), (4 << 10, 16 << 10), (16 << 10, 4 << 10), (32 << 10, 16 << 10)]


@pytest.mark.parametrize(("load", "store"), SIZES)
def test_they_wait_for_each_other_as_long_as_on_the_device(load, store):
    """One SM, data in L2: what either takes longer than with the other one far away, within 50 cycles of up to 464.

    Left out: both asked for at once, where either may be first.
    """
    device = load_profile("h200_sxm", {"sm.count": 1})
    found = [
        row for row in rows("tma_both")
        if row["kind"] == "both" and row["source"] == "l2" and (row["load_bytes"], row["store_bytes"]) == (load, store)
    ]  # fmt: skip
    took = {row["delay_cycles"]: np.array([row["load_cycles"], row["store_cycles"]]) for row in found}
    expected = {delay: np.array(pair(device, load, store, delay)) for delay in took if delay}
    far = max(took)
    assert expected[far] == pytest.approx(pair(device, load, store, 2 * far), abs=1.0)
    for delay, end in expected.items():
        assert end - expected[far] == pytest.approx(took[delay] - took[far], abs=50), delay
