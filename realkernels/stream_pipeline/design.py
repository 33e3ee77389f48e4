"""Which configurations to measure: many sizes spread over all parameters, and two whole maps of chunks and streams."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels._harness.spread import between, halton
from realkernels.stream_pipeline import Params

MIB = 1 << 20
LINK = {"pinned": 55e9, "pageable": 8e9}
"""Bytes per second each way; only to choose kernel times with."""
SPREAD_PINNED, SPREAD_PAGEABLE = 56, 20


def _spread(memory: str, count: int) -> Iterator[Params]:
    """Of buffers in ``memory``, by the Halton sequence over all other parameters."""
    largest = 1 << 30 if memory == "pinned" else 1 << 28
    for i in range(1, count + 1):
        a, b, c, d, e, f = (halton(i, base) for base in (2, 3, 5, 7, 11, 13))
        size = round(between(16 * MIB, largest, a) / MIB) * MIB
        copy_s = size / LINK[memory]
        yield Params(
            bytes=size,
            chunks=round(between(1, 256, b)),
            streams=1 + int(8 * c),
            kernel_s=float(f"{copy_s * between(0.1, 4.0, d):.4g}"),
            memory=memory,
            order="depth" if e < 0.6 else "breadth",
            allocation="pool" if memory == "pinned" and f > 0.8 else "none",
        )


def _totals() -> Iterator[Params]:
    yield from _spread("pinned", SPREAD_PINNED)
    yield from _spread("pageable", SPREAD_PAGEABLE)
    # Two whole maps of chunks and streams, for the question which is best.
    for size, kernel_s in ((256 * MIB, 4.8e-3), (32 * MIB, 0.3e-3)):
        for chunks, streams in product((1, 2, 4, 8, 16, 32, 64, 128, 256), (1, 2, 3, 4, 8)):
            if streams <= chunks:
                yield Params(bytes=size, chunks=chunks, streams=streams, kernel_s=kernel_s)
    for chunks, streams in ((8, 4), (16, 2), (64, 4)):
        yield Params(bytes=64 * MIB, chunks=chunks, streams=streams, kernel_s=4e-3, footprint="small")


DESIGN = HostDesign(
    totals=_totals,
    traced=(
        Params(bytes=256 * MIB, chunks=1, streams=1, kernel_s=4.8e-3),
        Params(bytes=256 * MIB, chunks=16, streams=1, kernel_s=4.8e-3),
        Params(bytes=256 * MIB, chunks=16, streams=2, kernel_s=4.8e-3),
        Params(bytes=256 * MIB, chunks=16, streams=4, kernel_s=4.8e-3),
        Params(bytes=256 * MIB, chunks=256, streams=4, kernel_s=4.8e-3),
        Params(bytes=32 * MIB, chunks=64, streams=4, kernel_s=0.3e-3),
    ),
)
