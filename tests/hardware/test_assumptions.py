"""What a kernel's ops tell of the quantities it depends on."""

from __future__ import annotations

import pytest

from gpusim.hardware import assumptions, load_profile, profile_names
from gpusim.program import Compute, Mix, SyncThreads, TmaLoad, WaitFull
from gpusim.program.kernel import Ring, Role
from tests.tile_programs import kernel


@pytest.mark.parametrize("start", assumptions._ONLY_FOR)
def test_every_beginning_is_that_of_a_quantity(start):
    """One that is called otherwise now would count for every kernel."""
    known = {key for name in profile_names() for key in load_profile(name).quantities}
    assert any(key.startswith(start) for key in known)


def test_units_count_for_kernels_that_use_them():
    """TMA and its barriers here; neither cp.async nor clusters."""
    keys = ["sm.clock", "tma.latency", "lsu.cp_async_latency", "mbarrier.latency", "barrier.latency", "cluster.sync"]

    def body(_tiles):
        yield TmaLoad("ring", 4096)
        yield WaitFull("ring")
        yield Compute(Mix(ffma=1))

    copying = kernel(Role("worker", 4, body), rings=(Ring("ring", 1, 4096),))
    assert assumptions.used_of(keys, copying) == ["sm.clock", "tma.latency", "mbarrier.latency"]
    meeting = kernel(Role("worker", 4, lambda _tiles: iter([SyncThreads()])))
    assert assumptions.used_of(keys, meeting) == ["sm.clock", "barrier.latency"]
