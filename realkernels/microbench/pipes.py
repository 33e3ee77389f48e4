"""The data path that shared memory and L1 have in common: loads from shared memory beside other traffic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, MIB, Context, i32, spec, u64

SOURCES = ("pipes.cu",)
NOTES = {
    "bits": "width of one lane's load from shared memory; neighbours side by side, no conflict",
    "beside": "what the other warps move between L2 (1 MiB of it) and the SM, 16 bytes per lane",
    "readers": "warps that load from shared memory",
    "movers": "the other warps",
    "shared_bytes_per_cycle": "loaded from shared memory, of one SM (median)",
    "moved_bytes_per_cycle": "moved by the others, of one SM (median)",
}
BESIDE = ("nothing", "ld.global", "cp.async", "bulk", "st.global")
SPAN, WINDOW = MIB, 100_000
RING, BATCH_BYTES = 32 * KIB, 4 * 512


def specs() -> list:
    return [spec("pipes.cu", "pipes", WORDS=words, BESIDE=kind) for words in (1, 4) for kind in range(len(BESIDE))]


def run(context: Context) -> Iterator[dict]:
    for words in (1, 4):
        for kind, beside in enumerate(BESIDE):
            kernel = context.kernel("pipes.cu", "pipes", WORDS=words, BESIDE=kind)
            for sms in (1, context.sms):
                for readers, movers in ((16, 0),) if beside == "nothing" else ((0, 16), (16, 16), (8, 8), (16, 4)):
                    warps = readers + movers
                    args = (context.source, context.target, u64(SPAN // 16 - 1), i32(readers), np.int64(WINDOW))
                    shared = RING + max(movers, 1) * BATCH_BYTES
                    stamps = context.warm(kernel, sms, 32 * warps, args, 2 * sms * warps, shared)
                    done, cycles = np.moveaxis(stamps.reshape(sms, warps, 2).astype(float), 2, 0)
                    rate = done / cycles.max(axis=1, keepdims=True)
                    yield {
                        "bits": 32 * words,
                        "beside": beside,
                        "sms": sms,
                        "readers": readers,
                        "movers": movers,
                        "shared_bytes_per_cycle": float(np.median(rate[:, :readers].sum(axis=1))) * 128 * words,
                        "moved_bytes_per_cycle": float(np.median(rate[:, readers:].sum(axis=1))),
                    }
