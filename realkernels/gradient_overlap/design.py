"""Which configurations to measure: every order with every priority and footprint, and many spread over the rest."""

from __future__ import annotations

from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels._harness.spread import between, halton
from realkernels._parts.hopper import SMS
from realkernels.gradient_overlap import Params

KIB, MIB = 1 << 10, 1 << 20
SPREAD = 28
FILLING = (SMS, 2 * SMS, 8 * SMS)
"""Blocks: of half of the device, of all of it, of four waves."""
BLOCKS = (64, SMS, 2 * SMS, 4 * SMS, 8 * SMS, 16 * SMS)
"""Half of the SMs, all of them by half, all, and in two to eight waves."""
ORDERS = ("overlapped", "overlapped", "overlapped", "after_backward", "same_stream")
BYTES_PER_S_OF_BLOCK = 6e9
"""What a communication block does of its bucket; only to choose sizes with."""


def totals() -> list[Params]:
    """Without repetitions."""
    chosen = [
        Params(overlap=overlap, priority=priority, blocks=blocks)
        for overlap, priority, blocks in product(("overlapped", "after_backward"), ("high", "normal"), FILLING)
        if overlap == "overlapped" or priority == "high"
    ]
    chosen += [Params(overlap="same_stream", blocks=blocks) for blocks in FILLING]
    # Few buckets of many waves: what priority is for.
    chosen += [
        Params(priority=priority, blocks=blocks, buckets=buckets)
        for priority, blocks, buckets in product(("high", "normal"), (SMS, 16 * SMS), (2, 4, 32))
    ]
    chosen += [_spread(index) for index in range(1, SPREAD + 1)]
    return list(dict.fromkeys(chosen))


def traced() -> list[Params]:
    """With and without room, and both priorities among many waves."""
    return [
        Params(),
        Params(overlap="after_backward"),
        Params(blocks=2 * SMS),
        *(Params(priority=priority, blocks=16 * SMS, buckets=4) for priority in ("high", "normal")),
    ]


def _spread(index: int) -> Params:
    """The configuration number ``index`` of the Halton sequence."""
    a, b, c, d, e, f, g = (halton(index, base) for base in (2, 3, 5, 7, 11, 13, 17))
    backward_s = float(f"{between(200e-6, 6e-3, a):.3g}")
    comm_s = float(f"{backward_s * between(0.1, 1.5, d):.3g}")
    comm_blocks = round(between(4, 64, e))
    most = 0.5 * comm_s * comm_blocks * BYTES_PER_S_OF_BLOCK
    return Params(
        overlap=ORDERS[int(5 * (8 * d % 1))],
        priority=("high", "normal")[int(8 * b % 2)],
        buckets=round(between(2, 48, b)),
        steps=1 + int(4 * g),
        backward_s=backward_s,
        comm_s=comm_s,
        blocks=BLOCKS[int(6 * c)],
        comm_blocks=comm_blocks,
        bytes=int(between(256 * KIB, max(min(most, 64 * MIB), 257 * KIB), f)) // 4096 * 4096,
    )


DESIGN = HostDesign(totals=totals, traced=tuple(traced()))
