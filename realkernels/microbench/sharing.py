"""What L2 gives to all SMs where several of them read the same lines at about the same time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, L2_RANGE, Context, i32, spec

SOURCES = ("sharing.cu",)
NOTES = {
    "members": "SMs that go through the same tiles",
    "order": "which they are: side by side by number (sm), in the grid (grid), or a stride apart in the grid (stride)",
    "lag": "tiles by which each of them is behind the one before; together they read 16 MiB",
    "kind": "bulk copies, or loads of 16 bytes a lane past L1",
    "tile_bytes": "of one bulk copy, or of one batch of loads",
    "bytes_per_cycle_per_sm": "by the median SM",
    "slowest": "the same by the slowest",
}
ORDERS = ("sm", "grid", "stride")
MEMBERS = (1, 2, 3, 4, 6, 12, 33, 66, 132)
LAGS = (0, 1, 4, 16)
RING, TURN_BYTES = 128 * KIB, 8 << 20
TILES = (4 * KIB, 16 * KIB)


def _variants() -> Iterator[dict[str, int]]:
    for tile in TILES:
        yield {"TILE": tile, "STAGES": RING // tile, "BULK": 1}
    yield {"TILE": 64 * KIB, "STAGES": 1, "BULK": 0}


def specs() -> list:
    return [spec("sharing.cu", "sharing", **variant) for variant in _variants()]


def run(context: Context) -> Iterator[dict]:
    grid = context.sms
    for variant in _variants():
        kernel = context.kernel("sharing.cu", "sharing", **variant)
        tile = variant["TILE"]
        for members in MEMBERS:
            if grid % members:
                continue
            groups = grid // members
            tiles = max(L2_RANGE // groups // tile, 1)
            for number, order in enumerate(ORDERS):
                for lag in LAGS if members > 1 else (0,):
                    args = (context.source, i32(tiles), i32(groups), i32(number), i32(lag), i32(TURN_BYTES // tile))
                    shared = RING if variant["BULK"] else 200 * KIB
                    stamps = context.warm(kernel, grid, 512, args, 2 * grid, shared).reshape(grid, 2)
                    each = TURN_BYTES // tile * tile
                    yield {
                        "kind": "bulk" if variant["BULK"] else "ld.global",
                        "tile_bytes": tile,
                        "members": members,
                        "order": order,
                        "lag": lag,
                        "bytes_per_cycle_per_sm": each / float(np.median(stamps[:, 0])),
                        "slowest": each / float(stamps[:, 0].max()),
                    }
