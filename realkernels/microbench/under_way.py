"""How much cp.async an SM can have under way before who issues more has to wait, by where copies start in a line."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import GIB, KIB, L2_RANGE, MEMORY_RANGE, Context, clamp, i32, per_cta, spec, u64

SOURCES = ("under_way.cu",)
NOTES = {
    "source": "l2 or dram",
    "offset": "of the first copy from a 4 KiB boundary",
    "group_bytes": "of a CTA",
    "in_flight": "groups under way per CTA, at most",
    "ctas": "on one SM or on all of them, `ctas_per_sm` each",
    "issue_cycles": "of a warp and group, median CTA",
    "wait_cycles": "from the last cp.async of a group until all but `in_flight` - 1 groups are there, the same",
}
IN_FLIGHT = (1, 2, 3, 4, 6, 8, 12)
GROUPS = (8 * KIB, 16 * KIB, 24 * KIB, 32 * KIB)
OFFSETS = (0, 16, 32, 64)
MOST_BYTES = 216 * KIB
RANGES = {"l2": L2_RANGE, "dram": MEMORY_RANGE}


def specs() -> list:
    return [spec("under_way.cu", "under_way", IN_FLIGHT=count) for count in IN_FLIGHT]


def run(context: Context) -> Iterator[dict]:
    cases = [
        (source, sms, 1, warps, group, in_flight, offset)
        for source, sms in (("l2", 1), ("dram", 1), ("dram", context.sms))
        for warps in (4, 8, 16)
        for group in GROUPS
        for in_flight in IN_FLIGHT
        for offset in OFFSETS
    ]
    cases += [
        ("dram", context.sms, 2, 8, group, in_flight, offset)
        for group in GROUPS
        for in_flight in IN_FLIGHT
        for offset in OFFSETS
    ]
    for source, sms, ctas_per_sm, warps, group, in_flight, offset in cases:
        if group * in_flight * ctas_per_sm > MOST_BYTES or group % (warps * 512):
            continue
        kernel = context.kernel("under_way.cu", "under_way", IN_FLIGHT=in_flight)
        grid = sms * ctas_per_sm
        groups = clamp(GIB // (grid * group), 64, 512)
        args = (context.source.ravel()[offset // 4 :], i32(group // (warps * 512)), i32(groups), u64(RANGES[source]))
        launch = context.warm if source == "l2" else context.cold
        # What is left of shared memory keeps a further CTA out.
        shared = max(in_flight * group, MOST_BYTES // (ctas_per_sm + 1) + KIB)
        stamps = launch(kernel, grid, 32 * warps, args, 4 * grid, shared)
        issue, wait = np.median(stamps[2 * grid :].reshape(2, grid), axis=1) / (groups - in_flight)
        yield {
            "source": source,
            "offset": offset,
            "warps": warps,
            "group_bytes": group,
            "in_flight": in_flight,
            "ctas_per_sm": ctas_per_sm,
            "ctas": grid,
            "groups": groups,
            "issue_cycles": float(issue),
            "wait_cycles": float(wait),
            **per_cta(stamps, grid, groups * group, ctas_per_sm, context.clock_hz),
        }
