"""Threads that sleep, small blocks of memory, copies by SMs and cold memory: one mechanism each, in closed form."""

from __future__ import annotations

import pytest

from gpusim.host.costs import HostCosts
from gpusim.host.device.pages import Pages
from gpusim.host.device.sleep import Sleep
from gpusim.program import host as ops
from tests.host.profiles import textbook
from tests.host.test_streams import COPY_S, FULL, MIB, total


def test_sleep_counts_by_straight_lines_between_the_times_that_were_measured():
    """Nothing after no sleep, the last value after more than was measured."""
    profile = textbook(wake__func_20us=2e-6, wake__func_50us=2e-6, wake__func_100us=6e-6, wake__func_3000us=9e-6)
    sleep = Sleep(profile, "func")
    assert [sleep.extra_s(t) for t in (0.0, 10e-6, 20e-6, 75e-6)] == pytest.approx([0.0, 1e-6, 2e-6, 4e-6])
    assert sleep.extra_s(1.0) == pytest.approx(9e-6)


def test_host_function_behind_a_kernel_wakes_the_drivers_thread():
    """A kernel of 10, a way of 3, a wake-up of 5: T = 18; a second function right behind adds 3."""
    profile = textbook(host__cupy__host_func_run=3e-6, wake__func_20us=5e-6)
    kernel = ops.Launch(ops.Work(ops.FixedCost(10e-6)), "a")
    assert total([kernel, ops.HostFunc("a")], profile=profile) == pytest.approx(18e-6)
    assert total([kernel, ops.HostFunc("a"), ops.HostFunc("a")], profile=profile) == pytest.approx(21e-6)


def pages() -> Pages:
    profile = textbook(alloc__small=MIB, alloc__small_take=1e-6, alloc__small_give=2e-6, alloc__device=40e-6,
                       alloc__device_free=30e-6, alloc__free_wake=10e-6)  # fmt: skip
    return Pages(HostCosts(profile))


def test_every_second_block_of_a_megabyte_takes_a_new_page():
    """Half a page is there; then one page for two blocks."""
    costs = pages()
    seconds, taken = zip(*(costs.take(name, MIB) for name in "abcde"), strict=True)
    assert seconds == pytest.approx([1e-6, 40e-6, 1e-6, 40e-6, 1e-6], rel=1e-3)
    assert taken == (0, 2 * MIB, 0, 2 * MIB, 0)


def test_last_block_of_a_page_gives_it_back():
    """B and c share a page that was taken for them."""
    costs = pages()
    for name in "abc":
        costs.take(name, MIB)
    given = [costs.give(name, MIB, waited=False) for name in "abc"]
    assert given == pytest.approx([2e-6, 2e-6, 30e-6], rel=1e-3)


def test_large_blocks_have_pages_of_their_own_and_wait_for_the_device():
    """Waking up after the wait comes on top."""
    costs = pages()
    assert costs.take("x", 2 * MIB) == (pytest.approx(40e-6, rel=1e-3), 2 * MIB)
    assert costs.give("x", 2 * MIB, waited=True) == pytest.approx(40e-6, rel=1e-3)


@pytest.mark.parametrize("take", [
    ops.Malloc("x", 32 * MIB),
    *(ops.MallocAsync("x", 32 * MIB, "a", pool) for pool in ("driver", "caching")),
])  # fmt: skip
def test_new_memory_is_cleared_by_the_engine_of_copies_to_the_device(take):
    """For 10 L: a copy in waits for that, one out does not; nor does one into memory that a pool has kept."""
    profile = textbook(copy__clear_rate=32 * MIB / (10 * COPY_S), pool__chunk=32 * MIB)
    pools = (ops.Pool("driver", release_threshold=1 << 40), ops.Pool("caching", "caching"))
    copies = {way: ops.MemcpyAsync(way, MIB, "b") for way in ("h2d", "d2h")}
    for calls, expected in (
        ([take, copies["h2d"]], 11.0), ([take, copies["d2h"]], 1.0), ([copies["h2d"], take, copies["h2d"]], 12.0),
    ):  # fmt: skip
        assert total(calls, profile=profile, pools=pools) == pytest.approx(expected * COPY_S, rel=5e-3)
    if isinstance(take, ops.MallocAsync):
        again = ops.MallocAsync("y", 32 * MIB, "a", take.pool)
        calls = [take, ops.FreeAsync("x", "a"), ops.HostWork(20 * COPY_S), again, copies["h2d"]]
        assert total(calls, profile=profile, pools=pools) == pytest.approx(21.0 * COPY_S, rel=5e-3)


@pytest.mark.parametrize(("kernel", "rounds"), [(FULL, 2.0), (ops.Work(ops.FixedCost(COPY_S)), 1.0)])
def test_copy_on_the_device_needs_room_on_the_sms(kernel, rounds):
    """A kernel of 2048 threads on each SM leaves none, one of a single block does."""
    calls = [ops.Launch(kernel, "a"), ops.MemcpyAsync("d2d", MIB, "b")]
    on_sms = textbook(copy__d2d_bandwidth=32e9, copy__d2d_block=4096)
    assert total(calls, profile=on_sms) == pytest.approx(rounds * COPY_S)
    engine = textbook(copy__d2d_bandwidth=32e9, copy__d2d_block=0)
    assert total(calls, profile=engine) == pytest.approx(COPY_S)


@pytest.mark.parametrize(("cache", "seconds"), [(16 * MIB, 2.0), (2 * MIB, 3.0), (0, 4.0)])
def test_ordinary_memory_beyond_the_cache_is_read_more_slowly(cache, seconds):
    """Four buffers at 2 L each hot and 4 L cold, in proportion: the call and the last copy of L."""
    profile = textbook(pageable__cache=cache, pageable__h2d_cold_rate=8e9)
    calls = [ops.MemcpyAsync("h2d", 4 * MIB, "a", pinned=False)]
    assert total(calls, profile=profile) == pytest.approx((4 * seconds + 1) * COPY_S)


def test_engine_turns_to_a_copy_that_waited_for_another_engine():
    """Two streams, kernel then copy: the second copy waits for the engine, which turns for half of L."""
    profile = textbook(copy__turn=COPY_S / 2, stream__retry=1e-12)
    quick = ops.Launch(ops.Work(ops.FixedCost(COPY_S / 10)), "a")
    other = ops.Launch(ops.Work(ops.FixedCost(COPY_S / 10)), "b")
    copies = [ops.MemcpyAsync("h2d", MIB, name) for name in "ab"]
    assert total([quick, other, *copies], profile=profile) == pytest.approx(2.6 * COPY_S, rel=1e-3)
    assert total(copies, profile=profile) == pytest.approx(2 * COPY_S)
