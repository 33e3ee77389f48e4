"""The runtime calls of one configuration, with the kernel spelled out down to its warps."""

from __future__ import annotations

import dataclasses

from gpusim.program import KernelProgram
from gpusim.program.host import Buffer, FreeAsync, HostOp, HostProgram, Launch, MallocAsync, MemcpyAsync, Pool, Stream
from realkernels._parts.host_programs import PAGE, one_thread
from realkernels.tma_warp_specialized import Params as KernelParams
from realkernels.tma_warp_specialized.model import build as build_kernel
from realkernels.two_level import Params

KEEP = 1 << 60


def kernel_params(params: Params) -> KernelParams:
    """The part of the parameters that is the kernel's own."""
    names = [field.name for field in dataclasses.fields(KernelParams)]
    return KernelParams(**{name: getattr(params, name) for name in names})


def batch_bytes(params: Params) -> int:
    """Bytes of one batch."""
    return params.grid * params.tiles_per_cta * params.tile_bytes


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    kernel: KernelProgram = build_kernel(kernel_params(params))
    size = batch_bytes(params)
    back = int(size * params.copy_back) // PAGE * PAGE
    ops: list[HostOp] = []
    for batch in range(params.batches):
        stream, data, offset = f"s{batch % params.streams}", f"batch{batch}", batch * size
        ops += [
            MallocAsync(data, size, stream, chunk=batch),
            MemcpyAsync("h2d", size, stream, True, "input", data, offset, 0, batch),
            Launch(kernel, stream, data, 0, size, batch),
            *([MemcpyAsync("d2h", back, stream, True, "output", data, offset, 0, batch)] if back else []),
            FreeAsync(data, stream, batch),
        ]
    total = size * params.batches
    return one_thread(
        "two_level",
        ops,
        streams=tuple(Stream(f"s{i}", "non_blocking") for i in range(params.streams)),
        buffers=(Buffer("input", total, "pinned"), Buffer("output", total, "pinned")),
        pools=(Pool("default", release_threshold=KEEP),),
    )
