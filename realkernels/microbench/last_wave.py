"""When equal CTAs of one wave end, and which SMs take those that are left after it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, MEMORY_RANGE, Context, f32, i32, spec, u64

SOURCES = ("last_wave.cu",)
NOTES = {
    "load": "each turn fetches 16 bytes per thread from DRAM: none, ahead (for the next turn), waited",
    "fmas": "dependent FFMAs on each value of a thread, per turn",
    "values": "of a thread, so many independent chains; 0: a load of 16 bytes from shared memory for each four of fmas",
    "grid": "CTAs: one and a half times as many as are resident",
    "cta_ns": "median time of a CTA of the first wave",
    "sm_spread": "standard deviation, over the SMs, of the mean end of their first CTAs, over cta_ns",
    "apart": "of the first CTAs of an SM, in the order in which they end: behind the first, over cta_ns, mean of SMs",
    "taken": "SMs that took 0, 1, … of the CTAs left after the first wave",
    "total": "until the last CTA ended, over cta_ns",
}
LOADS = ("none", "ahead", "waited")
FMAS = (16, 64, 256)
RESIDENT = [(2, warps) for warps in (2, 4, 6, 8, 12, 16)] + [(3, warps) for warps in (2, 4, 6, 8)]
RESIDENT += [(4, warps) for warps in (2, 4, 6)]
"""(CTAs per SM, warps per CTA)."""
WORK = 25600
"""FFMAs on each of four values in all turns; on sixteen a quarter of it."""
VECTORS = (1, 4, 0)


def specs() -> list:
    return [spec("last_wave.cu", "last_wave", **variant) for variant in _variants()]


def _variants() -> list[dict[str, int]]:
    return [
        {"LOAD": load, "FMAS": fmas, "VECTORS": vectors}
        for vectors in VECTORS
        for load in range(len(LOADS))
        for fmas in FMAS
    ]


def run(context: Context) -> Iterator[dict]:
    for variant in _variants():
        kernel = context.kernel("last_wave.cu", "last_wave", **variant)
        turns = WORK // (variant["FMAS"] * max(variant["VECTORS"], 1))
        for ctas, warps in RESIDENT:
            slots = ctas * context.sms
            grid = slots * 3 // 2
            args = (context.source, u64(MEMORY_RANGE // 16 - 1), i32(turns), f32(0.999), f32(0.001))
            shared = max(16 * 32 * warps * max(variant["VECTORS"], 1), 228 * KIB // (ctas + 1))
            stamps = context.warm(kernel, grid, 32 * warps, args, 3 * grid, shared).reshape(-1, 3)
            yield {
                "load": LOADS[variant["LOAD"]],
                "fmas": variant["FMAS"],
                "values": 4 * variant["VECTORS"],
                "ctas_per_sm": ctas,
                "warps": warps,
                "grid": grid,
                **_ends(stamps, slots, ctas, context.sms),
            }


def _ends(stamps: np.ndarray, slots: int, ctas: int, sms: int) -> dict:
    in_order = stamps[np.argsort(stamps[:, 1], kind="stable")]
    first, left = in_order[:slots], in_order[slots:]
    begin, cta_ns = float(first[:, 1].min()), float(np.median(first[:, 2] - first[:, 1]))
    ends = np.array([np.sort(first[first[:, 0] == sm][:, 2])[:ctas] for sm in range(sms)], dtype=float)
    taken = np.bincount(np.bincount(left[:, 0], minlength=sms), minlength=ctas + 1)
    return {
        "cta_ns": cta_ns,
        "sm_spread": float(ends.mean(axis=1).std() / cta_ns),
        "apart": ((ends - ends[:, :1]).mean(axis=0) / cta_ns).tolist(),
        "taken": taken.tolist(),
        "total": (float(stamps[:, 2].max()) - begin) / cta_ns,
    }
