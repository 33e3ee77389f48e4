"""cp.async: issue cost per warp instruction, latency of a group, throughput of a ring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import (
    GIB,
    KIB,
    MEMORY_RANGE,
    MIB,
    Context,
    clamp,
    i32,
    per_cta,
    spec,
    u64,
)

SOURCES = ("cpasync.cu",)
NOTES = {
    "kind": "group: one group of `copies` per thread, one CTA; ring: `in_flight` groups, each thread for itself",
    "lane_bytes": "per thread and instruction: 4 and 8 go through L1 (.ca), 16 past it (.cg)",
    "issue_cycles": "first to last cp.async issued, warp 0, all warps issuing",
    "issue_cycles_per_instruction": "issue_cycles / copies / warps: the SM's rate, if warps share it evenly",
    "wait_cycles": "commit to the return of wait_group 0, warp 0",
    "total_cycles": "issue and wait together",
}
LANE_BYTES = (4, 8, 16)
IN_FLIGHT = (1, 2, 4)
WARPS = (1, 2, 4, 8, 16)
GROUP_BYTES = tuple(k * KIB for k in (2, 4, 8, 16, 32))


def specs() -> list:
    return [spec("cpasync.cu", "cpasync_ring", SIZE=size, IN_FLIGHT=n) for size in LANE_BYTES for n in IN_FLIGHT]


def run(context: Context) -> Iterator[dict]:
    for size in LANE_BYTES:
        for warps in WARPS:
            for copies in (1, 16):
                yield from _group(context, size, warps, copies)
    for sms in (1, context.sms):
        for size in LANE_BYTES:
            for in_flight in IN_FLIGHT:
                yield from _rings(context, sms, size, in_flight)


def _group(context: Context, size: int, warps: int, copies: int) -> Iterator[dict]:
    kernel, repeats = context.kernel("cpasync.cu", "cpasync_group", SIZE=size, IN_FLIGHT=1), 40
    for source, step, span in (("l2", 128 * KIB, 8 * MIB), ("dram", 128 * KIB, MEMORY_RANGE)):
        args = (context.source, i32(copies), u64(step), u64(span), i32(repeats))
        launch = context.warm if source == "l2" else context.cold
        shared = copies * warps * 32 * size
        stamps = launch(kernel, 1, 32 * warps, args, 3 * repeats, shared).reshape(repeats, 3)[4:]
        issue, wait, total = (float(v) for v in np.median(stamps, axis=0))
        yield {
            "kind": "group",
            "lane_bytes": size,
            "warps": warps,
            "copies": copies,
            "source": source,
            "issue_cycles": issue,
            "issue_cycles_per_instruction": issue / copies / warps,
            "wait_cycles": wait,
            "total_cycles": total,
        }


def _rings(context: Context, sms: int, size: int, in_flight: int) -> Iterator[dict]:
    kernel = context.kernel("cpasync.cu", "cpasync_ring", SIZE=size, IN_FLIGHT=in_flight)
    for warps in WARPS:
        for group in GROUP_BYTES:
            copies = group // (warps * 32 * size)
            if copies == 0:
                continue
            groups = clamp(GIB // (sms * group), 32, 1024)
            args = (context.source, i32(copies), i32(groups), u64(MEMORY_RANGE))
            stamps = context.cold(kernel, sms, 32 * warps, args, 2 * sms, in_flight * group)
            yield {
                "kind": "ring",
                "lane_bytes": size,
                "warps": warps,
                "group_bytes": group,
                "in_flight": in_flight,
                "ctas": sms,
                "groups": groups,
                **per_cta(stamps, sms, groups * group, 1, context.clock_hz),
            }
