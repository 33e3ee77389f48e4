"""Turns of the shared-memory pipe for loads and stores whose lanes want any words: which of them pass together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, settled, spec

SOURCES = ("banks.cu",)
NOTES = {
    "access": "load or store",
    "bits": "width of one lane's access",
    "pattern": "tile C S: lane l in column l % C of row l / C, rows S words apart; bit B: lanes that differ in bit B "
    "of their number want the same element; any N: each lane one of N elements by chance; order: 32 of them in any",
    "offsets": "bytes of each lane's address",
    "wavefronts": "cycles per warp access of one SM with 32 warps, which nothing else holds up",
}
LANES = np.arange(32)
COLUMNS = (1, 2, 4, 8, 16)
ROWS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 20, 24, 32, 33, 36, 40, 48, 64, 65, 68)
SETS = (2, 3, 4, 6, 8, 16, 32, 64, 256)
WARPS, TURNS, REPEATS = 32, 64, 4


def patterns(words: int) -> Iterator[tuple[str, np.ndarray]]:
    """(name, offset of each lane in bytes) for accesses of ``words`` words."""
    for columns in COLUMNS:
        for row in ROWS:
            if row % words == 0 and row >= words:
                yield f"tile {columns} {row}", 4 * (LANES // columns * row + LANES % columns * words)
    for bit in range(5):
        yield f"bit {bit}", 4 * words * (LANES & ~(1 << bit))
    chance = np.random.default_rng(1)
    for count in SETS:
        for _ in range(3):
            yield f"any {count}", 4 * words * chance.integers(count, size=32)
    for _ in range(3):
        yield "order", 4 * words * chance.permutation(32)


def specs() -> list:
    return [spec("banks.cu", f"{access}_banks", WORDS=words) for access in ("load", "store") for words in (1, 2, 4)]


def run(context: Context) -> Iterator[dict]:
    import cupy

    for access in ("load", "store"):
        for words in (1, 2, 4):
            kernel = context.kernel("banks.cu", f"{access}_banks", WORDS=words)
            for pattern, offsets in patterns(words):
                args = (cupy.asarray(offsets, dtype=cupy.int32), i32(TURNS), i32(REPEATS))
                stamps = context.stamps(kernel, 1, 32 * WARPS, args, REPEATS, 32 * KIB)
                yield {
                    "access": access,
                    "bits": 32 * words,
                    "pattern": pattern,
                    "offsets": [int(offset) for offset in offsets],
                    "wavefronts": round(settled(stamps)["cycles_min"] / (8 * TURNS * WARPS), 3),
                }
