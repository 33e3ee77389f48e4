"""Allocation, pools, pageable memory and host functions: from bench rows to quantities."""

from __future__ import annotations

from gpusim.hardware.calibrate import Measured
from gpusim.host.benches import KIB, MIB, Found, HostBenches, line, rate, us

__all__ = ["STEPS"]


def _device_memory(b: HostBenches, _: Found) -> Found:
    """CudaMalloc and cudaFree of whole 2 MiB pages; smaller blocks may come out of a page that is there already."""
    found: Found = {}
    for name, part in (("alloc.device", "take"), ("alloc.device_free", "give")):
        rows = [r for r in b.rows("alloc", kind="cuda_malloc", part=part) if r["bytes"] >= 2 * MIB]
        _, per_second, _ = line([r["bytes"] for r in rows], [1e6 * r["median_s"] for r in rows])
        found[f"{name}_rate"] = rate(per_second, "alloc (cuda_malloc, 2 MiB to 1 GiB)")
    # The fixed part beside a running kernel, as programs call it: less than on a device that has just gone idle.
    for name, call in (("alloc.device", "malloc 1 MiB"), ("alloc.device_free", "free 1 MiB")):
        rows = b.rows("rules", kind="waits", call=call)
        times = [1e6 * (r["call_s"] - (r["kernel_s"] if r["call_s"] > r["kernel_s"] else 0.0)) for r in rows]
        found[name] = us(sum(times) / len(times), "rules (waits, 1 MiB)", max(times) - min(times))
    # How cudaFree of a page-sized block behaves while a kernel runs elsewhere; likewise the others.
    for name, call in (("alloc.waits", "malloc"), ("alloc.free_waits", "free"), ("alloc.host_waits", "malloc_host"),
                       ("alloc.host_free_waits", "free_host")):  # fmt: skip
        row = b.rows("rules", kind="waits", call=f"{call} 1 MiB", kernel_stream="non_blocking")[0]
        waits = row["call_s"] > row["idle_s"] + row["kernel_s"] / 2
        found[name] = Measured(float(waits), "", "rules (waits)")
    return found


def _host_memory(b: HostBenches, _: Found) -> Found:
    """CudaMallocHost and cudaFreeHost of 4 MiB and more; smaller blocks come out of one that is there already."""
    found: Found = {}
    for name, part in (("alloc.host", "take"), ("alloc.host_free", "give")):
        rows = [r for r in b.rows("alloc", kind="malloc_host", part=part) if 4 * MIB <= r["bytes"] <= 64 * MIB]
        fixed, per_second, off = line([r["bytes"] for r in rows], [1e6 * r["median_s"] for r in rows])
        found[name] = us(max(fixed, 0.0), "alloc (malloc_host, 4 to 64 MiB)", off)
        found[f"{name}_rate"] = rate(per_second, "alloc (malloc_host, 4 to 64 MiB)")
    return found


def _pools(b: HostBenches, _: Found) -> Found:
    """Stream-ordered pools: hits, growth and what a synchronisation gives back.

    A pool grows by at least ``pool.chunk``: of the blocks of 2 MiB taken from an empty one, the first asks the OS and
    the next eleven do not; of those of 16 MiB every second one does.
    """
    found: Found = {}
    hit = {part: b.us("alloc", kind="pool_threshold_max", part=part, bytes=MIB) for part in ("take", "give")}
    found["host.cupy.malloc_async"] = us(hit["take"], "alloc (pool_threshold_max)")
    found["host.cupy.free_async"] = us(hit["give"], "alloc (pool_threshold_max)")
    found["host.cuda.malloc_async"] = us(
        b.call("cuda", "malloc_async", "threshold_max", 2 * MIB), "cpp (threshold_max)"
    )
    found["host.cuda.free_async"] = us(b.call("cuda", "free_async", "threshold_max", 2 * MIB), "cpp (threshold_max)")
    found["pool.chunk"] = Measured(32.0, "MiB", "alloc (pool_miss of 2, 16 and 64 MiB)")
    found["pool.granularity"] = Measured(2.0, "MiB", "alloc (cuda_malloc below and above 1 MiB)")
    sizes = {64 * KIB: 32 * MIB, 64 * MIB: 64 * MIB, 256 * MIB: 256 * MIB}
    for name, part in (("pool.grow", "take"), ("pool.release", "sync")):
        times = [b.us("alloc", kind="pool_threshold_0", part=part, bytes=size) for size in sizes]
        base = hit["take"] if part == "take" else b.us("alloc", kind="pool_threshold_max", part="sync", bytes=MIB)
        fixed, per_second, off = line([float(s) for s in sizes.values()], [t - base for t in times])
        found[name] = us(fixed, "alloc (pool_threshold_0)", off)
        found[f"{name}_rate"] = rate(per_second, "alloc (pool_threshold_0)")
    return found


def _caching(b: HostBenches, _: Found) -> Found:
    """An allocator in the host's language, as CuPy's; nobody measured one in C++ here."""
    take = b.us("alloc", kind="caching_hit", part="take", bytes=MIB)
    give = b.us("alloc", kind="caching_hit", part="give", bytes=MIB)
    return {
        "host.cupy.cache_hit": us(take, "alloc (caching_hit)"),
        "host.cupy.cache_give": us(give, "alloc (caching_hit)"),
    }


def _pageable(b: HostBenches, _: Found) -> Found:
    """Copies of ordinary memory: what the host does inside the call.

    In: up to ``pageable.inline`` the call writes into the command stream; beyond, it fills one staging buffer after
    another (a copy of one buffer is in the call, then the device copies). Out: the device fills a buffer, the host
    empties it. Rates: 4 to 64 MiB; ``small`` is what one buffer alone takes.
    """
    result: Found = {}
    base = {d: b.call("cupy", f"memcpy_async_{d}_pageable", size=4) for d in ("h2d", "d2h")}
    inline = [(s, b.call("cupy", "memcpy_async_h2d_pageable", size=s)) for s in (4 * KIB, 32 * KIB, 64 * KIB)]
    _, per_second, off = line([s for s, _ in inline], [t for _, t in inline])
    result["pageable.inline_rate"] = rate(per_second, "calls (4 to 64 KiB)")
    result["pageable.inline"] = Measured(64.0, "KiB", "calls (64 KiB and four bytes more)")
    sizes = [4 * MIB, 16 * MIB, 64 * MIB]
    for direction in ("h2d", "d2h"):
        calls = [b.call("cupy", f"memcpy_async_{direction}_pageable", size=s) for s in sizes]
        _, per_second, off = line([float(s) for s in sizes], calls)
        result[f"pageable.{direction}_rate"] = rate(per_second, "calls (4 to 64 MiB)")
    # Beyond the host's cache: the largest copy, of which the cache holds the part that the others fit in.
    cache, largest = 64 * MIB, b.rows("copies", kind="pageable", direction="h2d", bytes=256 * MIB)[0]
    fast = cache / (result["pageable.h2d_rate"].value * 1e9)
    result["pageable.h2d_cold_rate"] = rate(
        (256 * MIB - cache) / (largest["call_s"] - fast), "copies (pageable h2d, 256 MiB)"
    )
    small = [(s, b.call("cupy", "memcpy_async_h2d_pageable", size=s)) for s in (128 * KIB, 256 * KIB, MIB)]
    fixed, per_second, off = line([float(s) for s, _ in small], [t for _, t in small])
    result["pageable.small_rate"] = rate(per_second, "calls (h2d, 128 KiB to 1 MiB)")
    result["pageable.h2d_overhead"] = us(max(fixed - base["h2d"], 0.0), "calls (h2d, 128 KiB to 1 MiB)", off)
    result["pageable.piece"] = Measured(1.0, "MiB", "calls (with_sync less call: the last piece's copy)")
    return result


def _rules(b: HostBenches, _: Found) -> Found:
    """How many launches a channel takes before the call blocks, and how many streams do not disturb each other."""
    queue = b.rows("rules", kind="queue", what="launch")[0]["accepted"]
    row = next(r for r in b.rows("rules", kind="aliases") if r.get("connections") is None)
    streams = row["streams"] if not row["held_up"] else row["held_up"][0]
    return {
        "stream.queue_depth": Measured(float(queue), "", "rules (queue)"),
        "stream.connections": Measured(float(streams), "", "rules (aliases: streams of which none was held up)"),
    }


def _host_functions(b: HostBenches, found: Found) -> Found:
    """The way to a host function and back to the device, and to a thread that waits for what it releases.

    A second function behind the first costs one more way to a function; the rest of the gap between two kernels
    with one function between them is the way back.
    """
    gaps = [b.us("device", "gap_median_s", kind="kernel_host_func_kernel", count=count) for count in (1, 2)]
    there = gaps[1] - gaps[0]
    back = gaps[0] - there - found["restart"].value
    whole = next(r for r in b.rows("calls", call="launch_host_func_acquire") if r["kernel_s"] == 0.0)
    before = b.call("cupy", "launch") + found["stream.start"].value + found["restart"].value
    wake = max(1e6 * whole["median_s"] - before - there, 0.0)
    result: Found = {"stream.func_kernel": us(back, "device (kernel_host_func_kernel)")}
    for api in ("cupy", "cuda"):
        result[f"host.{api}.host_func_run"] = us(there, "device (kernel_host_func_kernel, one and two functions)")
        result[f"host.{api}.slot_wake"] = us(wake, "calls (launch_host_func_acquire)")
    return result


def _threads(b: HostBenches, _: Found) -> Found:
    """How long a launch keeps those of other threads out, when four threads launch at the same time.

    In Python the threads take turns altogether, and taking turns costs; in C++ a part of the call is under a lock.
    """
    cupy = 1e6 * b.rows("calls", call="launch_from_threads", bytes=4)[0]["row_s"] / 4
    cuda = b.us("cpp", call="launch_from_threads", bytes=4) / 4
    return {
        "host.cupy.lock": us(cupy, "calls (launch_from_threads)"),
        "host.cuda.lock": us(cuda, "cpp (launch_from_threads)"),
    }


def _dispatch(b: HostBenches, _: Found) -> Found:
    """The front end starts one kernel after the other; an empty kernel still takes a moment."""
    rows = b.rows("device", kind="fan_out")
    each = [1e6 * row["skew_s"][-1] / (row["streams"] - 1) for row in rows]
    gap = {r["kernel_s"] > 0: 1e6 * r["gap_median_s"] for r in b.rows("device", kind="kernel_kernel", grid=1, block=32)}
    return {
        "stream.dispatch": us(sorted(each)[len(each) // 2], "device (fan_out)", max(each) - min(each)),
        "launch.least": us(max(gap[False] - gap[True], 0.0), "device (kernel_kernel, 0 s and more)"),
    }


STEPS = (_rules, _threads, _dispatch, _host_functions, _device_memory, _host_memory, _pools, _caching, _pageable)
