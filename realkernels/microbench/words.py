"""Turns of the shared-memory pipe for loads of which lanes want the same words, or words of one bank."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels.microbench.bench import KIB, Context, i32, settled, spec

SOURCES = ("words.cu",)
NOTES = {
    "bits": "width of one lane's load",
    "group, period": "lane l loads element l / group % period",
    "step": "bytes from one element to the next",
    "wavefronts": "cycles per warp load of one SM with 32 warps, which nothing else holds up",
}
GROUPS_AND_PERIODS = [
    (group, period) for group, period in product((1, 2, 4, 8, 16), (1, 2, 4, 8, 16, 32)) if group * period <= 32
]
PADDED = (33, 20, 36, 68, 132)
"""Words of a row, of which each lane has its own: one column of a matrix."""
WARPS, TURNS, REPEATS = 32, 256, 6


def variants() -> list[dict[str, int]]:
    shared = [
        {"WORDS": words, "GROUP": group, "PERIOD": period, "STEP": 4 * words}
        for words in (1, 2, 4)
        for group, period in GROUPS_AND_PERIODS
    ]
    # Rows begin where a load of their width may.
    columns = [
        {"WORDS": words, "GROUP": group, "PERIOD": 32 // group, "STEP": 4 * row}
        for words in (1, 2, 4)
        for row in PADDED
        for group in (1, 4, 16)
        if row % words == 0
    ]
    return shared + columns


def specs() -> list:
    return [spec("words.cu", "words", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in variants():
        kernel = context.kernel("words.cu", "words", **variant)
        stamps = context.stamps(kernel, 1, 32 * WARPS, (i32(TURNS), i32(REPEATS)), REPEATS, 32 * KIB)
        yield {
            "bits": 32 * variant["WORDS"],
            "group": variant["GROUP"],
            "period": variant["PERIOD"],
            "step": variant["STEP"],
            "wavefronts": settled(stamps)["cycles_min"] / (8 * TURNS * WARPS),
        }
