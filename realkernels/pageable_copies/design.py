"""Which configurations to measure: both kinds of memory, each way of copying, and many small chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels.pageable_copies import Params

MIB = 1 << 20


def _totals() -> Iterator[Params]:
    for memory, streams in product(("pageable", "pinned"), (1, 2, 4)):
        for size, chunks in ((64 * MIB, 8), (8 * MIB, 32)):
            yield Params(memory=memory, streams=streams, bytes=size, chunks=chunks, kernel_s=size / 16e9)
    for directions, calls in product(("h2d", "d2h"), ("async", "sync")):
        yield Params(directions=directions, calls=calls)
    yield Params(calls="sync")
    yield Params(calls="sync", memory="pinned")
    yield Params(bytes=1 * MIB, chunks=32, kernel_s=320e-6)


DESIGN = HostDesign(
    totals=_totals,
    traced=(
        Params(memory="pageable", streams=2, bytes=64 * MIB, chunks=8, kernel_s=64 * MIB / 16e9),
        Params(memory="pinned", streams=2, bytes=64 * MIB, chunks=8, kernel_s=64 * MIB / 16e9),
        Params(directions="h2d"),
    ),
)
