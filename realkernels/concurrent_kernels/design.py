"""Which configurations to measure: kernels that fit beside each other and that do not, by each resource; priorities."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.host_design import HostDesign
from realkernels.concurrent_kernels import Params

KIB = 1 << 10


def _totals() -> Iterator[Params]:
    for kernels in (1, 2, 4, 8, 16, 32):
        yield Params(kernels=kernels, streams=kernels)
    # 8 warps with 32 KiB and 64 KiB of registers fit beside each other; 48 warps or 200 KiB do not.
    yield Params(kernels=4, streams=4, shared_bytes=32 * KIB, registers=64)
    yield Params(kernels=4, streams=4, threads=768)
    yield Params(kernels=4, streams=4, threads=1024)
    yield Params(kernels=4, streams=4, shared_bytes=200 * KIB)
    yield Params(kernels=4, streams=4, registers=128)
    yield Params(kernels=6, streams=6, shared_bytes=100 * KIB)
    yield Params(kernels=3, streams=3, blocks=1000, threads=1024)
    for kernels in (126, 128, 129, 160):
        yield Params(kernels=kernels, streams=kernels, blocks=1, block_s=2e-3)
    for urgent in ("equal", "high"):
        yield Params(kernels=1, streams=1, blocks=1056, threads=1024, block_s=200e-6, urgent=urgent)
        yield Params(kernels=2, streams=2, blocks=528, threads=1024, block_s=100e-6, urgent=urgent)
    yield Params(kernels=64, streams=4, blocks=8, block_s=20e-6)
    yield Params(kernels=64, streams=16, blocks=8, block_s=20e-6)


DESIGN = HostDesign(
    totals=_totals,
    traced=(
        Params(kernels=8, streams=8),
        Params(kernels=4, streams=4, shared_bytes=200 * KIB),
        Params(kernels=129, streams=129, blocks=1, block_s=2e-3),
        Params(kernels=1, streams=1, blocks=1056, threads=1024, block_s=200e-6, urgent="high"),
    ),
)
