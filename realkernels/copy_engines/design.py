"""Which configurations to measure: every set of directions with and without a kernel; many small copies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels.copy_engines import Params

MIB = 1 << 20


def _totals() -> Iterator[Params]:
    size = 64 * MIB
    for h2d, d2h, d2d, kernel in product((0, size), (0, size), (0, 8 * size), (0.0, 2e-3)):
        if h2d or d2h or d2d:
            yield Params(h2d_bytes=h2d, d2h_bytes=d2h, d2d_bytes=d2d, kernel_s=kernel)
    yield Params(issue="alternate", copies=16)
    yield Params(streams_per_direction=4, copies=16)
    yield Params(copies=256, streams_per_direction=2, issue="alternate")
    yield Params(h2d_bytes=128 * MIB, d2h_bytes=16 * MIB)


DESIGN = HostDesign(
    totals=_totals,
    traced=(
        Params(h2d_bytes=64 * MIB, d2h_bytes=64 * MIB, d2d_bytes=0, kernel_s=2e-3),
        Params(h2d_bytes=64 * MIB, d2h_bytes=64 * MIB, d2d_bytes=512 * MIB, kernel_s=2e-3),
        Params(issue="alternate", copies=16),
    ),
)
