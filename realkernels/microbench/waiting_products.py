"""How long warpgroups that begin together are held up by asking for products, and by waiting for earlier ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, f32, i32, spec

SOURCES = ("waiting_products.cu",)
NOTES = {
    "n": "columns of one wgmma, m64nNk16 of f16 (k8 of tf32) into FP32, operands in shared memory",
    "per_group": "wgmma that a warpgroup asks for",
    "pending": "groups that the wait leaves under way; those before these were done long ago",
    "warpgroups": "that begin together",
    "issued_cycles": "until the first and the last of them have issued theirs",
    "returned_cycles": "until the waits of the first and of the last of them return",
}
COLUMNS = (8, 32, 64, 128, 192, 256)
TYPES = {"f16": 16, "tf32": 32}
GROUPS = (1, 2, 4, 8, 16)
WARPGROUPS = (1, 2, 3)
SHARED = 192 * KIB
TURNS, IDLE = 40, 6000
"""Cycles of `IDLE`: longer than all that was asked for takes."""


def specs() -> list:
    return [spec("waiting_products.cu", "waiting_products", **_defines(*variant)) for variant in _variants()]


def _variants() -> Iterator[tuple[int, int, int, str]]:
    for pending in (1, 0):
        for per_group in GROUPS:
            yield from ((n, per_group, pending, "f16") for n in COLUMNS)
    yield from ((n, 4, 1, "tf32") for n in (64, 128, 192, 256))


def _defines(n: int, per_group: int, pending: int, kind: str) -> dict[str, object]:
    return {"WGMMA_N": n, "PER_GROUP": per_group, "PENDING": pending, "WGMMA_TYPE": kind, "WGMMA_BITS": TYPES[kind]}


def run(context: Context) -> Iterator[dict]:
    for n, per_group, pending, kind in _variants():
        kernel = context.kernel("waiting_products.cu", "waiting_products", **_defines(n, per_group, pending, kind))
        for warpgroups in WARPGROUPS:
            stamps = context.stamps(
                kernel, 1, 128 * warpgroups, (i32(TURNS), i32(IDLE), f32(0.5)), 2 * warpgroups, SHARED
            ).reshape(warpgroups, 2)
            issued, returned = np.sort(stamps, axis=0).T
            yield {
                "n": n, "per_group": per_group, "pending": pending, "type": kind, "warpgroups": warpgroups,
                "issued_cycles": [float(issued[0]), float(issued[-1])],
                "returned_cycles": [float(returned[0]), float(returned[-1])],
            }  # fmt: skip
