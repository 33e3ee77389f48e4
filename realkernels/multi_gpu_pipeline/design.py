"""Which configurations to measure: each way of doing it, rings of one to four tensors, and many of all kinds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels._harness.spread import between, halton
from realkernels.multi_gpu_pipeline import Params

KIB, MIB = 1 << 10, 1 << 20
SPREAD = 30
BETWEEN_GPUS = 390e9
"""Bytes per second; only to choose sizes with."""
LONGEST_S = 20e-3
EVEN = Params(bytes=64 * MIB, kernel_s=180e-6)
"""Copies as long as kernels: room for the next tensor decides."""


def totals() -> list[Params]:
    """Without repetitions; those with more than two GPUs are left out where there are only two."""
    ways = [
        Params(way=way, copy_stream=stream, hand_over=hand_over)
        for way, stream, hand_over in product(("push", "pull"), ("own", "compute"), ("events", "host"))
    ]
    rings = [replace(EVEN, slots=slots, way=way) for slots, way in product((1, 2, 3, 4), ("push", "pull"))]
    short = [Params(bytes=64 * KIB, kernel_s=seconds, microbatches=64) for seconds in (5e-6, 20e-6, 50e-6)]
    more = [Params(gpus=gpus, slots=slots) for gpus, slots in product((3, 4), (1, 2))]
    spread = [_spread(index) for index in range(1, SPREAD + 1)]
    return list(dict.fromkeys([*ways, *rings, *traced(), *short, *more, *spread]))


def traced() -> list[Params]:
    """Copies beside kernels, one tensor at a time, both ways, and the host in between."""
    others = (replace(EVEN, slots=1), replace(EVEN, way="pull"), replace(EVEN, copy_stream="compute"))
    return [EVEN, *others, replace(EVEN, hand_over="host")]


def _spread(index: int) -> Params:
    """The configuration number ``index`` of the Halton sequence."""
    a, b, c, d, e, f = (halton(index, base) for base in (2, 3, 5, 7, 11, 13))
    size = int(between(64 * KIB, 256 * MIB, a)) // 4096 * 4096
    kernel_s = float(f"{min(max(size / BETWEEN_GPUS * between(0.25, 4.0, b), 8e-6), 1.5e-3):.3g}")
    most = max(4, min(48, int(LONGEST_S / (kernel_s + size / BETWEEN_GPUS))))
    return Params(
        gpus=(2, 2, 2, 2, 3, 4)[int(6 * (4 * c % 1))],
        microbatches=round(between(4, most, c)),
        bytes=size,
        kernel_s=kernel_s,
        imbalance=(0.0, 0.0, 0.5, -0.5)[int(4 * d)],
        slots=1 + int(4 * e),
        way=("push", "pull")[int(2 * f)],
        copy_stream=("own", "own", "compute")[int(3 * (8 * a % 1))],
        hand_over="host" if int(8 * (16 * b % 1)) == 0 else "events",
    )


DESIGN = HostDesign(totals=totals, traced=tuple(traced()))
