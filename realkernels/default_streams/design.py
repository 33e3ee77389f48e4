"""Which configurations to measure: every kind of working stream with every kind of stray one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels.default_streams import Params


def _totals() -> Iterator[Params]:
    kinds = ("blocking", "non_blocking", "per_thread")
    for workers, stray in product(kinds, ("none", "legacy", *kinds)):
        yield Params(workers=workers, stray=stray)
    yield Params(workers="legacy", stray="none")
    yield Params(workers="legacy", stray="non_blocking")
    yield Params(workers="blocking", stray="legacy", stray_every=4)
    yield Params(workers="blocking", stray="legacy", kernel_s=20e-6, tasks=16)


DESIGN = HostDesign(
    totals=_totals,
    traced=(
        Params(workers="blocking", stray="legacy"),
        Params(workers="non_blocking", stray="legacy"),
        Params(workers="blocking", stray="none"),
    ),
)
