"""Which configurations to measure: streams with and without stages inside; kernels of all lengths."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels.two_level import Params


def _totals() -> Iterator[Params]:
    for streams, stages in product((1, 2, 3, 4), (1, 3)):
        yield Params(streams=streams, stages=stages)
    for fma in (64, 2048, 4096):
        yield Params(fma_per_element=fma, streams=3)
        yield Params(fma_per_element=fma, streams=1)
    yield Params(copy_back=0.0, streams=2)
    yield Params(tiles_per_cta=32, batches=4, streams=2)
    yield Params(tiles_per_cta=2, batches=32, streams=4)


DESIGN = HostDesign(totals=_totals, traced=(Params(streams=3, stages=3), Params(streams=1, stages=1)))
