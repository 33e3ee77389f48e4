"""Allocation, pools and pageable memory: from bench rows to quantities."""

from __future__ import annotations

from statistics import fmean, median

from gpusim.hardware.calibration.benches import Measured
from gpusim.host.calibration.benches import KIB, MIB, Found, HostBenches, line, rate, us

__all__ = ["STEPS"]


def _device_memory(b: HostBenches, _: Found) -> Found:
    """CudaMalloc and cudaFree of whole 2 MiB pages; smaller blocks come out of a page that is there already.

    CudaMalloc of these takes as long beside a kernel, as it is in programs. CudaFree waits for the kernel's end, comes
    back from that as a synchronisation does (it takes as much longer than on an idle device), and then does the same.
    """
    found: Found = {}
    for name, part, call in (("alloc.device", "take", "malloc"), ("alloc.device_free", "give", "free")):
        rows = [r for r in b.rows("alloc", kind="cuda_malloc", part=part) if r["bytes"] >= 2 * MIB]
        _, per_second, _ = line([r["bytes"] for r in rows], [1e6 * r["median_s"] for r in rows])
        found[f"{name}_rate"] = rate(per_second, "alloc (cuda_malloc, 2 MiB to 1 GiB)")
        # Blocks of 64 MiB and more cost up to 20 us more than by this line.
        fixed = [1e6 * (r["median_s"] - r["bytes"] / per_second) for r in rows if r["bytes"] <= 16 * MIB]
        found[name] = us(sum(fixed) / len(fixed), "alloc (cuda_malloc, 2 to 16 MiB)", max(fixed) - min(fixed))
        beside, idle = _beside_and_idle(b, f"{call} 1 MiB")
        times = beside if call == "malloc" else idle
        found[f"alloc.small_{part}"] = us(fmean(times), "rules (waits, 1 MiB)", max(times) - min(times))
    # How cudaFree of a page-sized block behaves while a kernel runs elsewhere; likewise the others.
    for name, call in (("alloc.waits", "malloc"), ("alloc.free_waits", "free"), ("alloc.host_waits", "malloc_host"),
                       ("alloc.host_free_waits", "free_host")):  # fmt: skip
        row = b.rows("rules", kind="waits", call=f"{call} 1 MiB", kernel_stream="non_blocking")[0]
        waits = row["call_s"] > row["idle_s"] + row["kernel_s"] / 2
        found[name] = Measured(float(waits), "", "rules (waits)")
    return found


def _beside_and_idle(b: HostBenches, call: str) -> tuple[list[float], list[float]]:
    """Microseconds of a call beside a kernel, without the kernel's if it waits for it, and on an idle device."""
    rows = b.rows("rules", kind="waits", call=call)
    beside = [1e6 * (r["call_s"] - (r["kernel_s"] if r["call_s"] > r["kernel_s"] else 0.0)) for r in rows]
    return beside, [1e6 * r["idle_s"] for r in rows]


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
    """Stream-ordered pools: what a call takes that finds its stream's own free block, and what a pool asks the OS for.

    Behind a synchronisation the block is nobody's, and a part of the free end, which takes ``pool.general`` longer. The
    bench in C++ has no other calls than such. A pool grows by ``pool.chunk`` at least: of the blocks of 2 MiB taken
    from an empty one, the first asks the OS and the next eleven do not; of those of 16 MiB every second one does.
    """
    found: Found = {}
    hit = b.us("alloc", kind="pool_hit", part="take", threshold="max", bytes=MIB)
    general = max(b.us("alloc", kind="pool_threshold_max", part="take", bytes=MIB) - hit, 0.0)
    in_cpp = max(b.call("cuda", "malloc_async", "threshold_max", 2 * MIB) - general, 0.0)
    found["pool.general"] = us(general, "alloc (pool_threshold_max less pool_hit)")
    found["host.cupy.malloc_async"] = us(hit, "alloc (pool_hit)")
    found["host.cuda.malloc_async"] = us(in_cpp, "cpp (threshold_max) less pool.general")
    give = b.us("alloc", kind="pool_threshold_max", part="give", bytes=MIB)
    found["host.cupy.free_async"] = us(give, "alloc (pool_threshold_max)")
    found["host.cuda.free_async"] = us(b.call("cuda", "free_async", "threshold_max", 2 * MIB), "cpp (threshold_max)")
    found["pool.chunk"] = Measured(32.0, "MiB", "alloc (pool_miss of 2, 16 and 64 MiB)")
    found["pool.granularity"] = Measured(2.0, "MiB", "alloc (cuda_malloc below and above 1 MiB)")
    return found


def _looks(b: HostBenches, _: Found) -> Found:
    """What it takes to look at another stream that frees into the pool, of which there are ``others``.

    Where none of them has what is wanted, each is looked at twice. Nothing of runs from before there was such a bench.
    """
    rows = {row["state"]: row for row in b.some("alloc", kind="looks")}
    return {
        f"pool.look_{state}": us(
            max(1e6 * (row["median_s"] - rows["alone"]["median_s"]) / (2 * row["others"]), 0.0),
            f"alloc (looks: {state})",
        )
        for state, row in rows.items()
        if state != "alone"
    }


def _growth(b: HostBenches, _: Found) -> Found:
    """What a pool takes to grow, how much more if it holds nothing yet, and what a synchronisation takes to give back.

    With threshold 0 each take finds the pool empty; the least that it asks for is ``pool.chunk``.
    """
    found: Found = {}
    hit = b.us("alloc", kind="pool_threshold_max", part="take", bytes=MIB)
    grown = [b.rows("alloc", kind="pool_miss", part="take", bytes=size)[0] for size in (64 * MIB, 256 * MIB)]
    fixed, per_second, off = line([r["bytes"] for r in grown], [1e6 * r["median_s"] - hit for r in grown])
    fixed = max(fixed, 0.0)
    found["pool.grow"] = us(fixed, "alloc (pool_miss, 64 and 256 MiB)", off)
    found["pool.grow_rate"] = rate(per_second, "alloc (pool_miss, 64 and 256 MiB)")
    asked = {64 * KIB: 32 * MIB, 64 * MIB: 64 * MIB, 256 * MIB: 256 * MIB}
    takes, syncs = (
        [b.us("alloc", kind="pool_threshold_0", part=part, bytes=size) for size in asked] for part in ("take", "sync")
    )
    more = [t - hit - fixed - 1e6 * size / per_second for t, size in zip(takes, asked.values(), strict=True)]
    found["pool.first"] = us(max(median(more), 0.0), "alloc (pool_threshold_0)", max(more) - min(more))
    nothing = b.us("alloc", kind="pool_threshold_max", part="sync", bytes=MIB)
    fixed, per_second, off = line([float(size) for size in asked.values()], [t - nothing for t in syncs])
    found["pool.release"] = us(fixed, "alloc (pool_threshold_0)", off)
    found["pool.release_rate"] = rate(per_second, "alloc (pool_threshold_0)")
    return found


def _clearing(b: HostBenches, _: Found) -> Found:
    """How fast new memory is cleared, from the beginning of the call on: a copy behind it comes so much later.

    Nothing of runs from before there was such a bench.
    """
    rates = []
    for row in b.some("alloc", kind="cleared"):
        if row["where"] != "kept":
            kept = b.rows("alloc", kind="cleared", where="kept", bytes=row["bytes"])[0]
            rates.append(row["bytes"] / (row["take_s"] + row["median_s"] - kept["median_s"]))
    if not rates:
        return {}
    middle = sorted(rates)[len(rates) // 2]
    return {"copy.clear_rate": rate(middle, "alloc (cleared, 32 and 64 MiB)", max(rates) - min(rates))}


def _caching(b: HostBenches, _: Found) -> Found:
    """An allocator in the host's language, as CuPy's; nobody measured one in C++ here."""
    take = b.us("alloc", kind="caching_hit", part="take", bytes=MIB)
    give = b.us("alloc", kind="caching_hit", part="give", bytes=MIB)
    return {
        "host.cupy.cache_hit": us(take, "alloc (caching_hit)"),
        "host.cupy.cache_give": us(give, "alloc (caching_hit)"),
    }


def _pageable(b: HostBenches, found: Found) -> Found:
    """Copies of ordinary memory: what the host does inside the call.

    In: up to ``pageable.inline`` the call writes into the command stream; beyond, it fills one staging buffer after
    another (a copy of one buffer is in the call, then the device copies). Out: the device fills a buffer, the host
    empties it. Rates come from an array that is copied chunk by chunk, as programs do it: chunks of up to one buffer
    (``small``), and how much longer chunks of 8 MiB take than those of 1 MiB, out of the cache and not.
    """
    result: Found = {}
    inline = [(s, b.call("cupy", "memcpy_async_h2d_pageable", size=s)) for s in (4 * KIB, 32 * KIB, 64 * KIB)]
    _, per_second, _ = line([s for s, _ in inline], [t for _, t in inline])
    result["pageable.inline_rate"] = rate(per_second, "calls (4 to 64 KiB)")
    result["pageable.inline"] = Measured(64.0, "KiB", "calls (64 KiB and four bytes more)")
    result["pageable.piece"] = Measured(1.0, "MiB", "calls (with_sync less call: the last piece's copy)")
    source = "copies (pageable_chunks, 8 MiB and 1 MiB of {} MiB)"
    found_rates = {whole: _chunk_rate(b, "h2d", whole) for whole in _wholes(b)}
    hot, out, largest = found_rates[8], _chunk_rate(b, "d2h", 64), max(found_rates)
    result["pageable.h2d_rate"] = rate(hot, source.format(8))
    result["pageable.d2h_rate"] = rate(out, source.format(64))
    cache, cold = _cache(found_rates)
    result["pageable.cache"] = Measured(float(cache), "MiB", source.format(f"8 to {largest}"))
    result["pageable.h2d_cold_rate"] = rate(cold, source.format(f"8 to {largest}"))
    source = "copies (pageable_chunks, 256 KiB and 1 MiB of 8 MiB)"
    bandwidth = found["copy.d2h_bandwidth"].value * 1e9
    way = ("stream.copy_start", "copy.d2h_overhead", "host.cupy.sync_wake")
    for name, direction, per_byte_us, known in (("", "h2d", 0.0, ()), ("d2h_", "d2h", 1e6 / bandwidth, way)):
        times = [_chunk_us(b, direction, 8, s) - s * per_byte_us for s in (256 * KIB, MIB)]
        fixed, per_second, _ = line([256.0 * KIB, float(MIB)], times)
        call = sum(found[key].value for key in ("host.cupy.memcpy_async", *known))
        result[f"pageable.{name}small_rate"] = rate(per_second, source)
        result[f"pageable.{direction}_overhead"] = us(max(fixed - call, 0.0), source)
    return result


def _wholes(b: HostBenches) -> list[int]:
    """MiB of the arrays that were copied in chunks of 1 and 8 MiB."""
    return sorted({r["whole"] // MIB for r in b.rows("copies", kind="pageable_chunks", direction="h2d", bytes=8 * MIB)})


def _chunk_rate(b: HostBenches, direction: str, whole: int) -> float:
    """Bytes per second by which chunks of 8 MiB take longer than those of 1 MiB."""
    return line([MIB, 8 * MIB], [_chunk_us(b, direction, whole, size) for size in (MIB, 8 * MIB)])[1]


def _cache(rates: dict[int, float]) -> tuple[int, float]:
    """(MiB that stay in the host's cache, bytes per second of the rest) with which the rates by size fit best.

    Arrays of up to 8 MiB are taken to fit in; of larger ones the part beyond the cache is read from memory.
    """
    hot = 1.0 / rates[8]
    extra = {whole: max(1.0 / value - hot, 0.0) for whole, value in rates.items() if whole > 8}

    def fit(cache: int) -> tuple[float, float]:
        outside = {whole: max(1.0 - cache / whole, 0.0) for whole in extra}
        cold = sum(extra[w] * outside[w] for w in extra) / sum(part**2 for part in outside.values())
        return sum((extra[w] - cold * outside[w]) ** 2 for w in extra), cold

    cache = min(range(8, max(rates), 8), key=lambda size: fit(size)[0])
    return cache, 1.0 / (hot + fit(cache)[1])


def _chunk_us(b: HostBenches, direction: str, whole: int, size: int) -> float:
    return b.us("copies", kind="pageable_chunks", direction=direction, whole=whole * MIB, bytes=size)


def _rules(b: HostBenches, _: Found) -> Found:
    """How many launches a channel takes before the call blocks, and how many waiting streams hold up one more.

    Runs that were made before there were rows of the second kind say nothing about it.
    """
    queue = b.rows("rules", kind="queue", what="launch")[0]["accepted"]
    found: Found = {"stream.queue_depth": Measured(float(queue), "", "rules (queue)")}
    rows = [row for row in b.head("rules")["rows"] if row["kind"] == "channels" and row.get("held_up_by")]
    for key, whose in (
        ("stream.connections", ("kernel for copy", "kernel for kernel")),
        ("copy.channels", ("h2d", "d2h")),
    ):
        counts = [row["held_up_by"] for row in rows if row["waits"] in whose]
        if counts:
            found[key] = Measured(float(min(counts)), "", "rules (channels: waiting streams that hold up another)")
    return found


def _dispatch(b: HostBenches, _: Found) -> Found:
    """The front end starts one kernel after the other; an empty kernel still takes a moment."""
    rows = b.rows("device", kind="fan_out")
    each = [1e6 * row["skew_s"][-1] / (row["streams"] - 1) for row in rows]
    gap = {r["kernel_s"] > 0: 1e6 * r["gap_median_s"] for r in b.rows("device", kind="kernel_kernel", grid=1, block=32)}
    return {
        "stream.dispatch": us(sorted(each)[len(each) // 2], "device (fan_out)", max(each) - min(each)),
        "launch.least": us(max(gap[False] - gap[True], 0.0), "device (kernel_kernel, 0 s and more)"),
    }


STEPS = (_rules, _dispatch, _device_memory, _host_memory, _clearing, _pools, _looks, _growth, _caching, _pageable)
