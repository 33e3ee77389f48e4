"""How CTAs that copy the same tiles move apart, and what L2 gives them meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("moving_apart.cu",)
NOTES = {
    "own_bytes": "of a tile of 24 KiB, read by this CTA alone; the rest is read by one CTA of every SM",
    "ctas": "on each SM; those of a pass over the SMs read the same, the others something else",
    "pace": "cycles between two tiles of a CTA at least, as if something were computed; 0: none",
    "kilocycles": "time of this window after the start, its middle",
    "bytes_per_cycle_per_sm": "in this window, mean of all SMs",
    "slowest": "the same by the slowest CTA",
}
TILE, TURNS, EVERY, WINDOWS = 24 * KIB, 1024, 16, 16
RING = 192 * KIB
TILES, OWN_TILES = 512, 4
OWN = (0, 2 * KIB, 4 * KIB, 8 * KIB, TILE)
CTAS = (1, 2)
PACES = (45, 55, 65, 75)
"""Bytes a cycle that all CTAs of an SM ask for at most."""


def specs() -> list:
    return [spec("moving_apart.cu", "moving_apart", **_defines(own, ctas)) for own in OWN for ctas in CTAS]


def _defines(own: int, ctas: int) -> dict[str, int]:
    return {"SHARED": TILE - own, "OWN": own, "STAGES": RING // TILE // ctas}


def run(context: Context) -> Iterator[dict]:
    for own in OWN:
        for ctas in CTAS:
            kernel = context.kernel("moving_apart.cu", "moving_apart", **_defines(own, ctas))
            for pace in (0, *(TILE * ctas // rate for rate in PACES if own == 8 * KIB)):
                grid, count = ctas * context.sms, TURNS // EVERY + 1
                args = (context.source, *map(i32, (context.sms, TILES, OWN_TILES, TURNS, EVERY, pace)))
                stamps = context.warm(kernel, grid, 32, args, grid * count, RING // ctas + KIB)
                for row in _windows(stamps.reshape(grid, count), ctas):
                    yield {"own_bytes": own, "ctas": ctas, "pace": pace, **row}


def _windows(stamps: np.ndarray, ctas: int) -> Iterator[dict]:
    """Rates in equal parts of the time until the first CTA is done.

    ``stamps``: cycles, CTA by stamp; ``ctas`` of an SM.
    """
    done = TILE * EVERY * np.arange(stamps.shape[1])
    edges = np.linspace(0.0, stamps[:, -1].min(), WINDOWS + 1)
    rates = np.diff([np.interp(edges, mine, done) for mine in stamps], axis=1) / np.diff(edges)
    for window, middle in enumerate((edges[1:] + edges[:-1]) / 2):
        per_sm = ctas * rates[:, window]
        yield {
            "kilocycles": middle / 1e3,
            "bytes_per_cycle_per_sm": float(per_sm.mean()),
            "slowest": float(per_sm.min()),
        }
