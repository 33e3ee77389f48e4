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


KIB = 1 << 10
OWN_PAGE_S, SHARED_S, LAST_S, GIVEN_S = (pytest.approx(seconds, rel=1e-3) for seconds in (40e-6, 1e-6, 30e-6, 2e-6))
COSTS = {"alloc__small_take": 1e-6, "alloc__small_give": 2e-6, "alloc__device": 40e-6, "alloc__device_free": 30e-6}


def pages() -> Pages:
    return Pages(HostCosts(textbook(**COSTS)))


def test_blocks_smaller_than_a_page_share_one_as_far_as_there_is_room():
    """One is there with hardly anything in it; then one page for two blocks of a MiB."""
    costs = pages()
    seconds, taken = zip(*(costs.take(name, MIB) for name in "abcde"), strict=True)
    assert seconds == (SHARED_S, OWN_PAGE_S, SHARED_S, OWN_PAGE_S, SHARED_S)
    assert taken == (0, 2 * MIB, 0, 2 * MIB, 0)
    assert pages().take("nearly a page", 1920 * KIB) == (SHARED_S, 0)


def test_last_block_of_a_page_gives_it_back():
    """B and c share a page that was taken for them; another one is taken for the next that needs it."""
    costs = pages()
    for name in "abc":
        costs.take(name, MIB)
    assert [costs.give(name, MIB) for name in "abc"] == [GIVEN_S, GIVEN_S, LAST_S]
    assert [costs.take(name, 2 * MIB - 4 * KIB) for name in "de"] == [(SHARED_S, 0), (OWN_PAGE_S, 2 * MIB)]


def test_a_block_needs_room_in_one_piece():
    """As blocks that grow by 208 KiB, two at a time, were placed on an H200.

    The gaps of the first page are 628 KiB and 788 KiB when 840 are wanted.
    """
    costs = pages()
    costs.take("all that is there", 2 * MIB - 512)
    sizes = [3670016 * (i + 1) // 17 // 4096 * 4096 for i in range(9)]
    took = []
    for number, size in enumerate(sizes):
        took.append(costs.take(str(number), size)[1] > 0)
        if number:
            costs.give(str(number - 1), sizes[number - 1])
    assert took == [True, False, False, True, False, True, True, True, True]


def test_the_smallest_gap_is_taken():
    """Of 1024 and 640 KiB the second for 512, as on an H200; then one of 1024 is still there."""
    costs = pages()
    costs.take("all that is there", 2 * MIB - 512)
    for name, size in (("a", 1024 * KIB), ("b", 384 * KIB)):
        costs.take(name, size)
    costs.give("a", 1024 * KIB)
    assert [costs.take(name, size * KIB)[1] for name, size in (("c", 512), ("d", 1024))] == [0, 0]


def test_large_blocks_have_pages_of_their_own():
    """Nobody gets the rest of the last one."""
    costs = pages()
    assert costs.take("all that is there", 2 * MIB - 512) == (SHARED_S, 0)
    assert costs.take("x", 2 * MIB + MIB // 2) == (OWN_PAGE_S, 2 * MIB + MIB // 2)
    assert costs.take("y", MIB // 2) == (OWN_PAGE_S, 2 * MIB)
    assert costs.give("x", 2 * MIB + MIB // 2) == LAST_S


@pytest.mark.parametrize("kernel_s", [5e-6, 100e-6, 1e-3])
def test_cuda_free_behind_a_kernel_comes_back_as_a_synchronisation_and_does_what_it_does_on_an_idle_device(kernel_s):
    """However long it waited: 3 us for the one, 30 for the other."""
    profile = textbook(**COSTS, host__cupy__sync_wake=3e-6)
    kernel = ops.Launch(ops.Work(ops.FixedCost(kernel_s)), "a")
    calls = [ops.Malloc("x", 2 * MIB), kernel, ops.Free("x")]
    assert total(calls, profile=profile) == pytest.approx(40e-6 + kernel_s + 33e-6, abs=1e-7)
    assert total([calls[0], calls[2]], profile=profile) == pytest.approx(70e-6, abs=1e-7)


def test_a_caching_allocator_takes_its_blocks_from_pages_too():
    """Two streams, a block of a MiB each: one of them is put beside what the other got."""
    profile = textbook(**COSTS)
    takes = [ops.MallocAsync(name, MIB, name, "caching") for name in "abc"]
    seconds = total(takes, profile=profile, pools=(ops.Pool("caching", "caching"),))
    assert seconds == pytest.approx(42e-6, abs=1e-7)


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


def test_ordinary_memory_that_calls_go_over_again_stays_in_the_cache():
    """Eight pieces of 1 MiB, each its own or of the same 2 MiB, where the cache holds 2: 3.5 L a piece, or 2 L."""
    profile = textbook(pageable__cache=2 * MIB, pageable__h2d_cold_rate=8e9)

    def pieces(over):
        return [ops.MemcpyAsync("h2d", MIB, "a", pinned=False, over=over) for _ in range(8)]

    assert total(pieces(0), profile=profile) == pytest.approx((8 * 3.5 + 1) * COPY_S)
    assert total(pieces(2 * MIB), profile=profile) == pytest.approx((8 * 2.0 + 1) * COPY_S)


def test_engine_turns_to_a_copy_that_waited_for_another_engine():
    """Two streams, kernel then copy: the second copy waits for the engine, which turns for half of L."""
    profile = textbook(copy__turn=COPY_S / 2, stream__retry=1e-12)
    quick = ops.Launch(ops.Work(ops.FixedCost(COPY_S / 10)), "a")
    other = ops.Launch(ops.Work(ops.FixedCost(COPY_S / 10)), "b")
    copies = [ops.MemcpyAsync("h2d", MIB, name) for name in "ab"]
    assert total([quick, other, *copies], profile=profile) == pytest.approx(2.6 * COPY_S, rel=1e-3)
    assert total(copies, profile=profile) == pytest.approx(2 * COPY_S)
