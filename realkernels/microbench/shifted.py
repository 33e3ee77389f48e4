"""What cp.async brings whose destination starts elsewhere in its line than its source."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, L2_RANGE, Context, i32, spec, u32, u64

SOURCES = ("shifted.cu",)
NOTES = {
    "source, target": "bytes from a line of 128 to where each round starts, in global and in shared memory",
    "warps": "of the one CTA, which copy rounds of 16 KiB, four in flight",
    "bytes_per_cycle": "of one SM, the others idle; everything is in L2",
}
OFFSETS = (0, 16, 32, 48, 64, 96, 112)
WARPS, ROUND, TURNS = (4, 8, 16), 16 * KIB, 1024


def specs() -> list:
    return [spec("shifted.cu", "shifted")]


def run(context: Context) -> Iterator[dict]:
    kernel = context.kernel("shifted.cu", "shifted")
    for source in OFFSETS:
        for target in OFFSETS:
            for warps in WARPS:
                args = (context.source.ravel()[source // 4 :], u32(ROUND), u32(target), i32(TURNS), u64(L2_RANGE))
                stamps = context.warm(kernel, 1, 32 * warps, args, 1, 4 * (ROUND + 256))
                yield {
                    "source": source,
                    "target": target,
                    "warps": warps,
                    "bytes_per_cycle": TURNS * ROUND / float(np.median(stamps)),
                }
