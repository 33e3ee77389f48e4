"""Products by mma.sync whose fragments stand behind copies that other warps of the SM issue."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, i32, spec

SOURCES = ("beside_copies.cu",)
NOTES = {
    "rows": "of the tile of a warp that multiplies, in mma (16 each)",
    "columns": "of it, in mma (8 each)",
    "steps": "of a turn between barriers, each 16 deep",
    "warps": "that multiply; one SM",
    "copies": "of 16 bytes a lane that all copying warps issue at once, again and again",
    "row": "bytes of a row of what they copy; rows lie 4 KiB apart in global memory",
    "pitch": "bytes from one to the next in shared memory",
    "cycles_per_turn": "SM cycles of a turn beside warps that wait",
    "stopped_cycles": "by which each burst of copies makes the turns longer",
}
TILES = ((2, 2, 2), (2, 4, 2), (4, 4, 2))
ROWS = ((64, 64), (64, 80), (128, 128), (128, 144))
COUNTS = ((4, 4), (4, 8), (8, 8))
"""(copies of a lane, copying warps)."""
TURNS, PAUSE, NEVER = 1000, 1500, 1_000_000
"""Cycles between two bursts, and so many that there is only one."""


def variants() -> Iterator[dict[str, int]]:
    """Compile-time constants of each kernel."""
    for rows, columns, steps in TILES:
        for row, pitch in ROWS:
            for count in sorted({count for count, _ in COUNTS}):
                yield {
                    "ROWS": rows,
                    "COLUMNS": columns,
                    "STEPS": steps,
                    "ROW": row,
                    "COPY_PITCH": pitch,
                    "COUNT": count,
                }


def specs() -> list:
    return [spec("beside_copies.cu", "beside_copies", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in variants():
        kernel = context.kernel("beside_copies.cu", "beside_copies", **variant)
        rows, columns, steps = variant["ROWS"], variant["COLUMNS"], variant["STEPS"]
        stages = (16 * rows + 8 * columns) * (64 * steps + 16)
        for warps in (4, 8):
            for count, copying in COUNTS:
                if count != variant["COUNT"]:
                    continue
                shared = stages + 32 * copying * count * 16 // variant["ROW"] * variant["COPY_PITCH"]
                block = 32 * (warps + copying)
                (alone, _), (cycles, bursts) = (
                    context.warm(kernel, 1, block, (context.source, i32(TURNS), i32(warps), i32(pause)), 2, shared)
                    for pause in (NEVER, PAUSE)
                )
                yield {
                    "rows": rows,
                    "columns": columns,
                    "steps": steps,
                    "warps": warps,
                    "copies": copying * count,
                    "row": variant["ROW"],
                    "pitch": variant["COPY_PITCH"],
                    "cycles_per_turn": float(alone) / TURNS,
                    "stopped_cycles": float(cycles - alone) / float(bursts),
                }
