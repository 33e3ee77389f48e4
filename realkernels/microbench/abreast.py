"""How fast CTAs go through rows and columns of tiles that they share, from DRAM and from L2."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("abreast.cu",)
NOTES = {
    "rows": "CTAs side by side in the grid that share a column; every rows-th one shares a row",
    "grid": "CTAs",
    "row_bytes": "of a tile of a row, which CTAs of the same row read",
    "column_bytes": "the same of a column",
    "stages": "pairs of tiles that a CTA keeps under way",
    "held": "1: a pair is given back when the next one is there, 0: after `pace` cycles",
    "pace": "cycles for which a pair is wanted",
    "ctas_per_sm": "on each SM",
    "source": "dram: read for the first time; l2: everything was read by the launch before",
    "cycles_per_turn": "of the median CTA, without the first and the last eighth of its turns",
    "slowest": "the same of the slowest CTA",
    "first_turn": "cycles to the first pair, median CTA",
    "apart": "turns between the CTA that is furthest at half time of the median CTA, and the one furthest behind",
}
EVERY = 4
GRIDS = ((1, 132), (132, 132), (2, 132), (4, 132), (12, 132), (33, 132), (12, 252), (15, 120), (1, 1))
"""Rows, CTAs."""
SIZES = ((16, 8), (8, 8), (16, 16), (24, 24))
"""KiB of a tile of a row and of a column."""
RINGS = ((1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (6, 1))
"""Stages, held."""
PACES = (0, 500)
ROOM = 208 * KIB
DRAM_TURNS, L2_BYTES = 192, 12 << 20


def specs() -> list:
    return [spec("abreast.cu", "abreast", **defines) for defines in _variants()]


def _variants() -> Iterator[dict[str, int]]:
    for row, column in SIZES:
        for stages, held in RINGS:
            if stages * (row + column) * KIB <= ROOM:
                yield {"ROW_TILE": row * KIB, "COLUMN_TILE": column * KIB, "STAGES": stages, "HELD": held}


def run(context: Context) -> Iterator[dict]:
    for defines in _variants():
        row, column, stages, held = defines.values()
        kernel = context.kernel("abreast.cu", "abreast", **defines)
        for rows, grid in GRIDS:
            each = -(-grid // context.sms)
            ring = stages * (row + column)
            if each * (ring + KIB) > ROOM + 8 * KIB:
                continue
            turn_bytes = rows * row + -(-grid // rows) * column
            for source in ("dram", "l2"):
                turns = (
                    DRAM_TURNS
                    if source == "dram"
                    else min(max(L2_BYTES // turn_bytes // EVERY * EVERY, 16), DRAM_TURNS)
                )
                for pace in PACES:
                    args = (context.source, i32(rows), i32(turns), i32(EVERY), i32(pace))
                    count = turns // EVERY + 1
                    launch = context.cold if source == "dram" else context.warm
                    stamps = launch(kernel, grid, 32, args, grid * count, ring + KIB).reshape(grid, count)
                    yield {
                        "rows": rows, "grid": grid, "row_bytes": row, "column_bytes": column, "stages": stages,
                        "held": held, "pace": pace, "ctas_per_sm": each, "source": source, **_turns(stamps),
                    }  # fmt: skip


def _turns(stamps: np.ndarray) -> dict[str, float]:
    """``stamps``: cycles, CTA by stamp; the last one is of the end."""
    arrivals = stamps[:, :-1]
    count = arrivals.shape[1]
    first, last = count // 8, count - 1 - count // 8
    per_turn = (arrivals[:, last] - arrivals[:, first]) / (EVERY * (last - first))
    half = np.median(arrivals[:, count // 2])
    reached = [float(np.interp(half, mine, EVERY * np.arange(count))) for mine in arrivals]
    return {
        "cycles_per_turn": float(np.median(per_turn)),
        "slowest": float(per_turn.max()),
        "first_turn": float(np.median(arrivals[:, 0])),
        "apart": max(reached) - min(reached),
    }
