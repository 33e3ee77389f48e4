"""Which configurations to measure: chains of all lengths, in a stream and as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels.cuda_graph import Params

KIB = 1 << 10


def _totals() -> Iterator[Params]:
    for mode, nodes in product(("stream", "graph"), (1, 5, 20, 100)):
        yield Params(mode=mode, nodes=nodes)
    for mode in ("stream", "graph"):
        yield Params(mode=mode, kernel_s=0.0)
        yield Params(mode=mode, kernel_s=50e-6)
        yield Params(mode=mode, branches=4, kernel_s=10e-6)
        yield Params(mode=mode, bytes=256 * KIB, nodes=5)
        yield Params(mode=mode, nodes=400, replays=2)


DESIGN = HostDesign(
    totals=_totals,
    traced=(Params(mode="stream"), Params(mode="graph"), Params(mode="graph", branches=4, kernel_s=10e-6)),
)
