"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import (
    Buffer,
    Free,
    FreeAsync,
    HostOp,
    HostProgram,
    Launch,
    Malloc,
    MallocAsync,
    MemcpyAsync,
    Pool,
    Stream,
    StreamSync,
)
from realkernels._parts.host_programs import PAGE, full_work, one_thread
from realkernels.allocators import Params

KEEP = 1 << 60
SHARES = (1.0, 0.5, 0.75, 0.25, 0.875, 0.375)
"""Sizes of variable batches, as parts of the largest."""


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    ops: list[HostOp] = []
    growing = params.sizes == "growing"
    for batch in range(params.batches):
        stream = "s0" if growing else f"s{batch % params.streams}"
        ops += _grow(params, batch, stream) if growing else _batch(params, batch, stream)
        if params.sync_every and (batch + 1) % params.sync_every == 0:
            ops.append(StreamSync(stream, batch))
    return one_thread(
        "allocators",
        ops,
        streams=tuple(Stream(f"s{i}", "non_blocking") for i in range(params.streams)),
        buffers=(Buffer("input", params.bytes, "pinned"), Buffer("output", params.bytes, "pinned"), *_ready(params)),
        pools=_pools(params),
    )


def size_of(params: Params, batch: int) -> int:
    """Bytes of a batch, in whole pages."""
    if params.sizes == "growing":
        return params.bytes * (batch + 1) // params.batches // PAGE * PAGE or PAGE
    share = 1.0 if params.sizes == "constant" else SHARES[batch % len(SHARES)]
    return int(params.bytes * share) // PAGE * PAGE


def _pools(params: Params) -> tuple[Pool, ...]:
    if params.mode == "caching":
        return (Pool("default", "caching"),)
    if params.mode in ("pool_release", "pool_keep"):
        return (Pool("default", "driver", KEEP if params.mode == "pool_keep" else 0),)
    return ()


def _ready(params: Params) -> tuple[Buffer, ...]:
    if params.mode != "preallocated":
        return ()
    return tuple(Buffer(f"batch{i}", size_of(params, i), "device") for i in range(params.batches))


def _take(params: Params, batch: int, stream: str) -> list[HostOp]:
    size = size_of(params, batch)
    if params.mode == "preallocated":
        return []
    if params.mode == "cuda_malloc":
        return [Malloc(f"batch{batch}", size, batch)]
    return [MallocAsync(f"batch{batch}", size, stream, chunk=batch)]


def _give(params: Params, which: int, stream: str, batch: int) -> list[HostOp]:
    if params.mode == "preallocated":
        return []
    if params.mode == "cuda_malloc":
        return [Free(f"batch{which}", batch)]
    return [FreeAsync(f"batch{which}", stream, batch)]


def _batch(params: Params, batch: int, stream: str) -> list[HostOp]:
    size, name = size_of(params, batch), f"batch{batch}"
    return [
        *_take(params, batch, stream),
        MemcpyAsync("h2d", size, stream, True, "input", name, chunk=batch),
        Launch(full_work(params.kernel_s), stream, name, 0, size, batch),
        MemcpyAsync("d2h", size, stream, True, "output", name, chunk=batch),
        *_give(params, batch, stream, batch),
    ]


def _grow(params: Params, batch: int, stream: str) -> list[HostOp]:
    """A cache that takes a larger block, copies itself into it and gives the old one back."""
    ops = _take(params, batch, stream)
    size, name = size_of(params, batch), f"batch{batch}"
    if batch == 0:
        ops.append(MemcpyAsync("h2d", size, stream, True, "input", name, chunk=batch))
    else:
        ops.append(MemcpyAsync("d2d", size_of(params, batch - 1), stream, True, f"batch{batch - 1}", name, chunk=batch))
    ops.append(Launch(full_work(params.kernel_s), stream, name, 0, size_of(params, max(batch - 1, 0)), batch))
    if batch:
        ops += _give(params, batch - 1, stream, batch)
    if batch == params.batches - 1:
        ops.append(MemcpyAsync("d2h", size_of(params, 0), stream, True, "output", name, chunk=batch))
        ops += _give(params, batch, stream, batch)
    return ops
