"""Latency of a load from shared memory and of a shuffle behind stores of other warps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import L2_RANGE, MEMORY_RANGE, Context, i32, spec, u64

SOURCES = ("behind.cu",)
NOTES = {
    "op": "what the chain consists of: lds or shfl",
    "storers": "warps of the SM that store 512 bytes at a time without a pause",
    "target": "where they store: 16 MiB of L2, or DRAM",
    "cycles": "SM cycles of one step of the chain, median over SMs",
    "stored_bytes_per_cycle": "of one SM meanwhile",
}
STORERS = (0, 2, 4, 8, 15, 31)
STEPS, LEAD = 400, 20_000


def specs() -> list:
    return [spec("behind.cu", "behind", SHUFFLE=shuffle) for shuffle in (0, 1)]


def run(context: Context) -> Iterator[dict]:
    for shuffle, op in enumerate(("lds", "shfl")):
        kernel = context.kernel("behind.cu", "behind", SHUFFLE=shuffle)
        for target, span in (("l2", L2_RANGE), ("dram", MEMORY_RANGE)):
            for sms in (1, context.sms):
                for storers in STORERS:
                    args = (context.target, u64(span // 16 - 1), i32(STEPS), i32(storers), np.int64(LEAD))
                    stamps = context.warm(kernel, sms, 32 * (storers + 1), args, 3 * sms).reshape(sms, 3)
                    chain, stored, took = stamps.T.astype(float)
                    yield {
                        "op": op,
                        "target": target,
                        "sms": sms,
                        "storers": storers,
                        "cycles": float(np.median(chain)) / STEPS,
                        "stored_bytes_per_cycle": float(np.median(stored / np.maximum(took, 1.0))),
                    }
