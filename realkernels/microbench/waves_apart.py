"""Whether CTAs of later waves, which copy the same tiles, are as far apart as those before them."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import KIB, Context, i32, spec
from realkernels.microbench.moving_apart import OWN_TILES, RING, TILE, TILES

SOURCES = ("moving_apart.cu",)
NOTES = {
    "own_bytes": "of a tile of 24 KiB, read by this CTA alone; the rest is read by one CTA of every SM",
    "ctas": "on each SM at a time",
    "turns": "tiles of a CTA",
    "waves": "of CTAs, each as many as find room",
    "wave": "which of them",
    "bytes_per_cycle_per_sm": "mean of its CTAs, times those of an SM",
}
OWN, CTAS = (4 * KIB, 8 * KIB), (1, 2)
SHAPES = ((64, 8), (128, 1), (128, 4), (128, 8), (256, 1), (256, 4), (512, 1), (1024, 1))
"""Turns and waves; several come to 512 and to 1024 turns in all."""


def specs() -> list:
    return [spec("moving_apart.cu", "moving_apart", **_defines(own, ctas)) for own in OWN for ctas in CTAS]


def _defines(own: int, ctas: int) -> dict[str, int]:
    return {"SHARED": TILE - own, "OWN": own, "STAGES": RING // TILE // ctas}


def run(context: Context) -> Iterator[dict]:
    for own in OWN:
        for ctas in CTAS:
            kernel = context.kernel("moving_apart.cu", "moving_apart", **_defines(own, ctas))
            for turns, waves in SHAPES:
                grid = waves * ctas * context.sms
                args = (context.source, *map(i32, (context.sms, TILES, OWN_TILES, turns, turns, 0)))
                stamps = context.warm(kernel, grid, 32, args, 2 * grid, RING // ctas + KIB).reshape(waves, -1, 2)
                for wave, cycles in enumerate(stamps[:, :, 1].mean(axis=1)):
                    yield {
                        "own_bytes": own,
                        "ctas": ctas,
                        "turns": turns,
                        "waves": waves,
                        "wave": wave,
                        "bytes_per_cycle_per_sm": ctas * turns * TILE / float(cycles),
                    }
