"""Loads of what L2 holds, behind bulk copies that DRAM has to bring: how long they wait for these."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, MEMORY_RANGE, Context, i32, spec, u32, u64

SOURCES = ("behind_misses.cu",)
NOTES = {
    "sms": "that copy, each as much",
    "bytes": "of an SM, in copies of 16 KiB, all asked for at once",
    "delay": "cycles from the first copy until the word is asked for; 0: as soon as all copies have been issued",
    "asked_cycles": "from the first copy until then (medians over SMs, of five launches)",
    "hit_cycles": "from then until the word is there",
    "landed_cycles": "from the first copy until all have landed",
}
COPY = 16 * KIB
COPIES = (0, 1, 2, 4, 6, 8, 12)
DELAYS = (0, 1000, 2000, 3000, 4000, 6000, 8000)
PART = 256 * KIB
SHARED = 200 * KIB
TURNS = 5


def specs() -> list:
    return [spec("behind_misses.cu", "behind_misses")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("behind_misses.cu", "behind_misses")
    words, at = context.target, 0
    for sms in (1, context.sms // 4, context.sms):
        for copies in COPIES:
            for delay in DELAYS if copies and sms == context.sms else DELAYS[:1]:
                turns = []
                for _ in range(TURNS + 1):
                    # Always another part of memory, so that L2 holds none of it and has nothing to write back.
                    at = (at + sms * PART) % (MEMORY_RANGE - context.sms * PART)
                    source = context.source[at // context.source.itemsize :]
                    args = (source, u64(PART), words, i32(copies), u32(COPY), i32(delay))
                    stamps = context.stamps(kernel, sms, 32, args, 3 * sms, SHARED).reshape(sms, 3)
                    turns.append(np.median(stamps, axis=0))
                asked, hit, landed = np.median(turns[1:], axis=0)
                yield {
                    "sms": sms, "bytes": copies * COPY, "delay": delay, "asked_cycles": float(asked),
                    "hit_cycles": float(hit), "landed_cycles": float(landed),
                }  # fmt: skip
