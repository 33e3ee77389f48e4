"""Which configurations to measure: triggers, prologues shorter and longer than the work, room for one kernel or two."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels.dependent_launch import Params

KIB = 1 << 10


def _totals() -> Iterator[Params]:
    for launch, mode in product(("plain", "programmatic"), ("stream", "graph")):
        yield Params(launch=launch, mode=mode)
        yield Params(launch=launch, mode=mode, prologue_s=0.0, kernels=100)
        yield Params(launch=launch, mode=mode, prologue_s=15e-6, work_s=15e-6)
        yield Params(launch=launch, mode=mode, blocks=528, threads=512, kernels=40)
    for trigger, mode in product(("first", "half", "end"), ("stream", "graph")):
        yield Params(trigger=trigger, mode=mode)
        yield Params(trigger=trigger, mode=mode, prologue_s=25e-6)
        yield Params(trigger=trigger, mode=mode, prologue_s=8e-6, blocks=264, shared_bytes=100 * KIB)
    for launch in ("plain", "programmatic"):
        yield Params(launch=launch, mode="graph", work_s=2e-6, prologue_s=1e-6, kernels=200)
        yield Params(launch=launch, mode="graph", work_s=5e-6, prologue_s=2e-6, kernels=100, blocks=16)
        yield Params(launch=launch, work_s=100e-6, prologue_s=10e-6, blocks=132, shared_bytes=200 * KIB)
        yield Params(launch=launch, work_s=12e-6, prologue_s=6e-6, blocks=1000, shared_bytes=60 * KIB)


DESIGN = HostDesign(
    totals=_totals,
    traced=(Params(), Params(launch="plain"), Params(trigger="half", prologue_s=8e-6, mode="graph")),
)
