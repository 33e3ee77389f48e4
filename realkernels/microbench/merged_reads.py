"""Which reads of the same lines by several SMs L2 answers once: by what reads them, and where that lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("merged_reads.cu",)
NOTES = {
    "way": "bulk: one copy of a tile; cp_async: 16 bytes a lane; load: 16 bytes a lane past L1",
    "row_bytes": "of a tile, side by side in memory; rows are far apart there",
    "pitch_bytes": "from row to row in shared memory",
    "offset_bytes": "by which all that is read begins off a line, where shared memory is written on one",
    "swizzled": "parts of a row lie in shared memory in another order for each row",
    "members": "CTAs next to each other that go through the same tiles at about the same time",
    "bytes_per_cycle_per_sm": "by the median CTA, times the CTAs of an SM",
    "slowest": "the same by the slowest",
}
TILE, TILES, TURNS, STAGES = 16 * KIB, 32, 512, 3
CTAS = {"bulk": 2, "cp_async": 2, "load": 8}
"""Of an SM: as many as keep L2 busy."""
MEMBERS = (1, 4, 12, 132)
OFFSETS = (0, 16, 32, 64)
FEWER_TILES = 4
"""Where each CTA has tiles of its own, so that all of them stay in L2."""


@dataclass(frozen=True)
class _Way:
    name: str
    row: int = TILE
    pitch: int = TILE
    offset: int = 0
    swizzled: bool = False

    @property
    def defines(self) -> dict[str, int]:
        bulk = self.name == "bulk"
        row, tiles = (128, 1) if bulk else (self.row, TILES)
        return {
            "WAY": ("bulk", "cp_async").index(self.name) if self.name != "load" else 2,
            "ROW": row, "PITCH": self.pitch if self.name == "cp_async" else row,
            # Of a bulk copy a row is all tiles of a group, of which each is in one piece.
            "SOURCE_PITCH": TILES * TILE // (TILE // row) if bulk else tiles * row,
            "OFFSET": self.offset, "SWIZZLED": int(self.swizzled), "TILE": TILE, "THREADS": 256,
            "STAGES": STAGES if self.name != "load" else 1,
        }  # fmt: skip


WAYS = (
    *(_Way("bulk", offset=offset) for offset in OFFSETS),
    *(_Way("load", row, row) for row in (64, 128)),
    *(_Way("load", 1024, 1024, offset) for offset in OFFSETS),
    *(_Way("cp_async", row, row + padding) for row in (64, 128, 256, 1024) for padding in (0, 16, 32, 64)),
    *(_Way("cp_async", 1024, 1024, offset) for offset in OFFSETS[1:]),
    *(_Way("cp_async", row, row, swizzled=True) for row in (64, 128)),
)


def specs() -> list:
    return [spec("merged_reads.cu", "merged_reads", **way.defines) for way in WAYS]


def run(context: Context) -> Iterator[dict]:
    for way in WAYS:
        kernel = context.kernel("merged_reads.cu", "merged_reads", **way.defines)
        ctas = CTAS[way.name]
        shared = {"bulk": STAGES * TILE, "cp_async": STAGES * TILE // way.row * way.pitch, "load": 0}[way.name]
        for members in MEMBERS:
            tiles = FEWER_TILES if members == 1 else TILES
            args = (context.source, *map(i32, (context.sms, members, tiles, TURNS)))
            # So much that no further CTA finds room.
            room = max(shared, 227 * KIB // ctas - 2 * KIB)
            cycles = context.warm(kernel, ctas * context.sms, 256, args, ctas * context.sms, room)
            moved = ctas * TURNS * TILE
            yield {
                "way": way.name,
                "row_bytes": way.row,
                "pitch_bytes": way.pitch,
                "offset_bytes": way.offset,
                "swizzled": way.swizzled,
                "members": members,
                "bytes_per_cycle_per_sm": moved / float(np.median(cycles)),
                "slowest": moved / float(cycles.max()),
            }
