"""Which configurations to measure: rings of one to many buffers, given back early or late."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.host_design import HostDesign
from realkernels.host_callback_pool import Params

KIB = 1 << 10


def _totals() -> Iterator[Params]:
    for slots in (1, 2, 3, 4, 8, 32):
        yield Params(slots=slots)
    for slots in (1, 3, 8):
        yield Params(slots=slots, recycle="after_kernel")
        yield Params(slots=slots, fill_s=200e-6)
        yield Params(slots=slots, kernel_s=300e-6, callback_s=20e-6)
        yield Params(slots=slots, bytes=64 * KIB, fill_s=5e-6, kernel_s=5e-6, batches=100)
    yield Params(slots=4, batches=300)
    yield Params(slots=4, streams=1)
    yield Params(slots=32, streams=4)


DESIGN = HostDesign(totals=_totals, traced=(Params(slots=1), Params(slots=3), Params(slots=3, recycle="after_kernel")))
