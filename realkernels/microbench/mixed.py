"""What warps that do different things get of a scheduler: those that wait much leave their slots to the others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import Context, f32, spec

SOURCES = ("mixed.cu",)
NOTES = {
    "kinds": "of the first and of the other warps, 16 steps a turn each: see `KINDS`",
    "warps": "of each kind on every scheduler, all of one CTA",
    "cycles_per_turn": "of a warp of each kind, mean over the warps; null where there is none",
}
KINDS = ("four chains of FFMAs", "a chain of FFMAs", "a chain of shuffles", "a shared load and 64 FFMAs")
PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
WARPS = ((1, 0), (0, 1), (1, 1), (1, 3), (3, 1), (2, 2), (4, 4))
SPAN = 1 << 17


def specs() -> list:
    return [spec("mixed.cu", "mixed", FIRST=first, SECOND=second) for first, second in PAIRS]


def run(context: Context) -> Iterator[dict]:
    for first, second in PAIRS:
        kernel = context.kernel("mixed.cu", "mixed", FIRST=first, SECOND=second)
        for few, others in WARPS:
            warps = 4 * (few + others)
            args = (np.int32(few), f32(0.999), f32(0.001), np.int64(SPAN))
            turns = context.stamps(kernel, context.sms, 32 * warps, args, context.sms * warps, 16 * 32 * warps)
            turns = turns.reshape(context.sms, warps).astype(float)
            parts = turns[:, : 4 * few], turns[:, 4 * few :]
            yield {
                "kinds": [KINDS[first], KINDS[second]],
                "warps": [few, others],
                "cycles_per_turn": [SPAN / float(part.mean()) if part.size else None for part in parts],
            }
