"""Calls and copies: from bench rows to quantities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusim.hardware.calibration.benches import Measured
from gpusim.host.calibration.benches import KIB, MIB, Found, HostBenches, line, rate, us
from gpusim.program.host import ON_DEVICE, TO_OR_FROM_HOST

__all__ = ["STEPS"]


def _calls(b: HostBenches, _: Found) -> Found:
    """Time inside calls that return at once.

    From Python as they cost in a running program: rows of several calls in turn (h2d, launch, d2h and two
    launches) where there are such, else the call on its own while the stream is held. A launch takes 7 or 10 us on
    the same machine, for some hundred calls each, so that it is the median of the rows that there are of it.
    """
    two = b.us("calls", "row_s", call="row: launch on two streams") / 2
    rows = [two, *(b.call("cupy", name, "busy", field="row_s") for name in ("launch", "launch_full_grid"))]
    trio = b.us("calls", "row_s", call="row: h2d,launch,d2h")
    cupy = {
        "launch": (float(np.median(rows)), "calls (launch, launch_full_grid, two launches in turn)"),
        "memcpy_async": ((trio - two) / 2, "calls (h2d, launch, d2h in turn)"),
        "event_record": (b.call("cupy", "event_record", "busy", field="row_s"), "calls"),
        "stream_wait_event": (b.call("cupy", "stream_wait_event", "busy", field="row_s"), "calls"),
        "host_func": (b.call("cupy", "host_func", "busy", field="row_s"), "calls"),
        "sync": (b.call("cupy", "device_sync"), "calls (idle)"),
    }
    cuda = {
        "launch": (b.call("cuda", "launch", "busy"), "cpp"),
        "memcpy_async": (b.call("cuda", "memcpy_async_h2d_pinned", "busy", MIB), "cpp"),
        "event_record": (b.call("cuda", "event_record", "busy"), "cpp"),
        "stream_wait_event": (b.call("cuda", "stream_wait_event", "busy"), "cpp"),
        "host_func": (b.call("cuda", "host_func", "busy"), "cpp"),
        "sync": (b.call("cuda", "device_sync"), "cpp (idle)"),
    }
    found = {}
    for api, calls in (("cupy", cupy), ("cuda", cuda)):
        for name, (value, source) in calls.items():
            found[f"host.{api}.{name}"] = us(value, source)
        # cudaMemcpy of four bytes from pageable memory does not wait: what is left is the call.
        found[f"host.{api}.memcpy"] = us(b.call(api, "memcpy_h2d_pageable", size=4), "calls, cpp (4 bytes, pageable)")
        nodes = [1.0, 10.0, 100.0]
        graph = [b.call(api, "graph_launch", "busy", int(n)) for n in nodes]
        start, per_second, off = line(nodes, graph)
        found[f"host.{api}.graph_launch"] = us(start, "graph_launch of 1 to 100 nodes", off)
        found[f"host.{api}.graph_launch_node"] = Measured(
            max(1e9 / per_second, 0.0), "ns", "graph_launch of 1 to 100 nodes"
        )
    return found


def _memset_calls(b: HostBenches, _: Found) -> Found:
    """Time inside cudaMemsetAsync, as of `_calls`; of up to 4 KiB it is a command, of 64 KiB and more a launch.

    Runs that were made before there were such rows say nothing about it.
    """
    found = {}
    for api, bench, field in (("cupy", "calls", "row_s"), ("cuda", "cpp", "median_s")):
        for name, size in (("memset_async", MIB), ("memset_small", 4)):
            for row in b.some(bench, call="memset_async", state="busy", bytes=size):
                found[f"host.{api}.{name}"] = us(1e6 * row[field], f"{bench} (memset_async)")
    return found


def _waking(b: HostBenches, _: Found) -> Found:
    """Time from a call's end to the start on the device (CUPTI), and from the end there to the return of a wait.

    The second is the round trip of launch and synchronisation less everything else in it.
    """
    rows = [row for row in b.rows("latency", kind="round_trip") if row["work"].startswith("kernel")]
    starts = [1e6 * row["start_after_call_end_median_s"] for row in rows]
    start = float(np.median(starts))
    result = {"stream.start": us(start, "latency (kernels)", float(np.ptp(starts)))}
    restart = b.restart_us
    both = [row for name in ("stream", "device") for row in b.rows("calls", call=f"launch_and_{name}_sync")]
    trips = [1e6 * row["median_s"] for row in both if row["kernel_s"] < 1e-3]
    result["host.cupy.sync_wake"] = us(
        float(np.median(trips)) - b.call("cupy", "launch") - start - restart,
        "calls (launch and sync)",
        float(np.ptp(trips)),
    )
    trips = [1e6 * r["median_s"] for r in b.rows("cpp", call="launch_and_sync")]
    result["host.cuda.sync_wake"] = us(
        float(np.median(trips)) - b.call("cuda", "launch") - start - restart,
        "cpp (launch and sync)",
        float(np.ptp(trips)),
    )
    return result


def _copies(b: HostBenches, _: Found) -> Found:
    """Bandwidth from the largest copies, overhead from rows of small ones, which include it each time.

    Of memsets likewise. Runs that were made before there were rows of them say nothing about it.
    """
    found = {}
    for direction in (*TO_OR_FROM_HOST, *ON_DEVICE):
        sizes = b.some if direction == "memset" else b.rows
        rows = {row["bytes"]: 1e6 * row["seconds"] for row in sizes("copies", kind="size", direction=direction)}
        if not rows:
            continue
        # What stays in L2 says nothing about the bandwidth of device memory.
        least = 64 if direction in ON_DEVICE else 16
        large = [size for size in rows if size >= least * MIB]
        _, bandwidth, _ = line([float(s) for s in large], [rows[s] for s in large])
        small = [s for s in rows if 4 * KIB <= s <= MIB]
        left = [rows[s] - 1e6 * s / bandwidth for s in small]
        found[f"copy.{direction}_bandwidth"] = rate(bandwidth, f"copies (size, {least} MiB and more)")
        found[f"copy.{direction}_overhead"] = us(
            float(np.median(left)), "copies (size, 4 KiB to 1 MiB)", float(np.ptp(left))
        )
    return found


def _device_copies(b: HostBenches, _: Found) -> Found:
    """How many threads a block of a copy within the device has, and with which part of them it is as quick as alone.

    Of a large copy behind a kernel that holds threads for much longer: part of it is done before the kernel ends if one
    of its blocks finds room. How fast it is with room for half of them says how many would do. Runs that were made
    before there were such rows say nothing about it.
    """
    rows = [row for row in b.head("copies")["rows"] if row["kind"] == "copy_beside"]
    behind = [row for row in rows if "free_threads" in row]
    if not behind:
        return {}
    alone_s = next(row["first_s"] for row in rows if "second" not in row and row.get("bytes") == behind[0]["bytes"])
    most, started_s = behind[0]["sm_threads"], behind[0]["kernel_s"] + 0.75 * alone_s
    threads = min(row["free_threads"] for row in behind if row["second_s"] < started_s)
    half = [row["second_s"] for row in behind if 2 * (row["free_threads"] // threads) == most // threads]
    enough = [min(0.5 * seconds / alone_s, 1.0) for seconds in half]
    return {
        "copy.d2d_threads": Measured(float(threads), "", "copies (copy_beside: least room in which it starts)"),
        "copy.d2d_enough": Measured(
            float(np.median(enough)), "", "copies (copy_beside: room for half of its blocks)", float(np.ptp(enough))
        ),
    }


def _duplex(b: HostBenches, found: Found) -> Found:
    """What a direction still does while the other one is busy.

    Bandwidth: both directions with copies of 64 MiB; the slower one's last part runs alone.
    Overhead: copies of 1 MiB beside large ones of the other direction.
    """
    row = next(r for r in b.rows("copies", kind="duplex", h2d_bytes=64 * MIB, d2h_bytes=64 * MIB))
    total = row["total_bytes"]
    times = {d: row[f"{d}_together_s"] for d in TO_OR_FROM_HOST}
    first = min(times, key=times.get)
    other = "d2h" if first == "h2d" else "h2d"
    alone = found[f"copy.{other}_bandwidth"].value * 1e9
    rates = {first: total / times[first], other: (total - (times[other] - times[first]) * alone) / times[first]}
    result = {f"copy.{d}_duplex_bandwidth": rate(rates[d], "copies (duplex, 64 MiB)") for d in rates}
    for d, o in (("h2d", "d2h"), ("d2h", "h2d")):
        row = b.rows("copies", kind="duplex", **{f"{d}_bytes": MIB, f"{o}_bytes": 64 * MIB})[0]
        together, until = row[f"{d}_together_s"], row[f"{o}_together_s"]
        each_alone = row[f"{d}_alone_s"] / (row["total_bytes"] / MIB)
        beside = row["total_bytes"] / MIB - (together - until) / each_alone
        extra = until / beside - MIB / rates[d]
        result[f"copy.{d}_duplex_overhead"] = us(1e6 * extra, "copies (duplex, 1 MiB beside 64 MiB)")
    return result


def _turns(b: HostBenches, found: Found) -> Found:
    """What passes between copies of streams that each had a kernel in between, while always one of them waits."""
    left = []
    for pattern, direction in (("in_kernel", "h2d"), ("out_kernel", "d2h")):
        bandwidth, overhead = (found[f"copy.{direction}_{what}"].value for what in ("bandwidth", "overhead"))
        left += [
            1e6 * row["period_s"] - row["bytes"] / (bandwidth * 1e3) - overhead
            for row in b.rows("handover", kind="period", pattern=pattern)
            if row["bytes"] >= MIB and row["streams"] > 1
        ]
    return {"copy.turn": us(max(float(np.median(left)), 0.0), "handover (period, 1 and 4 MiB)", float(np.ptp(left)))}


def _retry_more(b: HostBenches, _: Found) -> Found:
    """How much longer the round of looks takes with each stream beyond two: twice the growth of the mean lateness.

    Of kernels behind copies of 4 MiB: long ones, so that nothing but the wait for the copy's end is in it.
    """
    rows = [row for row in b.head("handover")["rows"] if row.get("kind") == "late" and row["engine"] == "kernel"]
    late = {row["streams"]: 1e6 * row["mean_s"] for row in rows if row["bytes"] == 4 * MIB}
    if not late:
        return {}
    more = np.array([streams - 2 for streams in late if streams > 2])
    growth = np.array([late[n + 2] for n in more]) - (late[1] + late[2]) / 2
    slope = float(more @ growth / (more @ more))
    return {"stream.retry_more": us(max(2.0 * slope, 0.0), "handover (late: kernels behind copies of 4 MiB)")}


def _copy_latency(b: HostBenches, found: Found) -> Found:
    """Time from a copying call's end to the start of the copy: the round trip less everything else in it."""
    left = []
    for direction in TO_OR_FROM_HOST:
        bandwidth = found[f"copy.{direction}_bandwidth"].value * 1e9
        for size in (64 * KIB, MIB):
            trip = b.call("cupy", f"memcpy_{direction}_and_sync", size=size)
            copy = 1e6 * size / bandwidth + found[f"copy.{direction}_overhead"].value
            call = b.call("cupy", f"memcpy_async_{direction}_pinned", size=size)
            left.append(trip - copy - call - found["host.cupy.sync_wake"].value)
    return {"stream.copy_start": us(max(float(np.mean(left)), 0.0), "calls (copy and sync)", float(np.ptp(left)))}


STEPS: tuple[Callable[[HostBenches, Found], Found], ...] = (
    _calls,
    _memset_calls,
    _waking,
    _copies,
    _device_copies,
    _duplex,
    _turns,
    _retry_more,
    _copy_latency,
)
