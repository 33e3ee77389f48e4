"""Which configurations to measure: every allocation with kernels of both sizes, and many spread over all parameters."""

from __future__ import annotations

from itertools import product

from realkernels._harness.host_design import HostDesign
from realkernels._harness.spread import between, halton
from realkernels._parts.hopper import SMS
from realkernels.layer_pipeline import ALLOCATIONS, Params

KIB, MIB = 1 << 10, 1 << 20
SPREAD = 30
BYTES_PER_S_OF_BLOCK = 12e9
"""What a block does of its batch; only to choose sizes with, so that kernels take the time they are meant to."""


def totals() -> list[Params]:
    """Without repetitions."""
    chosen = [
        Params(allocation=allocation, blocks=blocks, workspace_bytes=space)
        for allocation, blocks, space in product(ALLOCATIONS, (64, 2 * SMS), (0, 4 * MIB))
        if space or allocation != "none"
    ]
    chosen += [Params(streams=streams) for streams in (1, 2, 8)]
    chosen += [_spread(index) for index in range(1, SPREAD + 1)]
    return list(dict.fromkeys(chosen))


def traced() -> list[Params]:
    """Each allocation, and kernels that fill the device."""
    return [*(Params(allocation=allocation) for allocation in ALLOCATIONS), Params(blocks=2 * SMS)]


def _spread(index: int) -> Params:
    """The configuration number ``index`` of the Halton sequence."""
    a, b, c, d, e, f, g, h = (halton(index, base) for base in (2, 3, 5, 7, 11, 13, 17, 19))
    layers = round(between(2, 24, b))
    kernel_s = float(f"{between(10e-6, 400e-6, a):.3g}")
    blocks = round(between(8, 2 * SMS, d))
    # The least a layer takes, so that none is short of time for its batch.
    imbalance = (0.0, 0.3, 0.8)[int(3 * g)]
    most = 0.5 * kernel_s * (1.0 - imbalance) * blocks * BYTES_PER_S_OF_BLOCK
    # Not by the index: in base 3 that goes along with the layers.
    allocation = ALLOCATIONS[int(3 * (8 * d % 1))]
    return Params(
        layers=layers,
        streams=1 + int(min(layers, 12) * c),
        batches=round(between(4, 48, h)),
        kernel_s=kernel_s,
        imbalance=imbalance,
        blocks=blocks,
        bytes=max(int(between(64 * KIB, max(min(most, 16 * MIB), 65 * KIB), e)) // 4096 * 4096, 4096),
        allocation=allocation,
        workspace_bytes=4 * MIB if allocation == "none" else (0, round(between(1, 32, f)) * MIB)[f > 0.3],
    )


DESIGN = HostDesign(totals=totals, traced=tuple(traced()))
