"""Which configurations to measure: every allocator with each course of sizes, synchronised or not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels.allocators import Params

MIB = 1 << 20


def _totals() -> Iterator[Params]:
    modes = ("preallocated", "cuda_malloc", "pool_release", "pool_keep", "caching")
    for mode, sizes in product(modes, ("constant", "variable", "growing")):
        yield Params(mode=mode, sizes=sizes)
    for mode in ("cuda_malloc", "pool_release", "pool_keep", "caching"):
        yield Params(mode=mode, sync_every=1)
        yield Params(mode=mode, sync_every=4, streams=4, bytes=4 * MIB, kernel_s=80e-6)
        yield Params(mode=mode, bytes=1 * MIB, kernel_s=20e-6, batches=32)


DESIGN = HostDesign(
    totals=_totals,
    traced=(
        Params(mode="cuda_malloc"),
        Params(mode="pool_keep"),
        Params(mode="pool_release", sync_every=1),
        Params(mode="caching", sizes="growing"),
    ),
)
