"""Which configurations to measure: every ordering, for long kernels, short ones and large copies."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.host_design import HostDesign
from realkernels.event_graph import Params

KIB, MIB = 1 << 10, 1 << 20


def _totals() -> Iterator[Params]:
    for ordering in ("event", "event_sync", "stream_sync", "device_sync"):
        yield Params(ordering=ordering)
        yield Params(ordering=ordering, c_s=1e-3)
        yield Params(ordering=ordering, a_s=10e-6, b_s=10e-6, c_s=10e-6, d_s=10e-6, bytes=64 * KIB, rounds=20)
        yield Params(ordering=ordering, bytes=16 * MIB, b_s=400e-6)


DESIGN = HostDesign(
    totals=_totals, traced=(Params(ordering="event"), Params(ordering="stream_sync"), Params(ordering="device_sync"))
)
