"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import (
    Buffer,
    EventRecord,
    FixedCost,
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
    StreamWaitEvent,
    Work,
)
from realkernels._parts.host_programs import one_thread
from realkernels.layer_pipeline import Params

KEEP = 1 << 60


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    ops: list[HostOp] = []
    for batch in range(params.batches):
        ops += _batch(params, batch)
    there = params.batches if params.allocation == "none" else 0
    return one_thread(
        "layer_pipeline",
        ops,
        streams=tuple(Stream(f"s{i}", "non_blocking") for i in range(params.streams)),
        buffers=(
            Buffer("input", params.bytes, "pinned"),
            Buffer("output", params.bytes, "pinned"),
            *(Buffer(f"batch{i}", params.bytes, "device") for i in range(there)),
        ),
        pools=(Pool("default", release_threshold=KEEP),) if params.allocation == "async" else (),
    )


def stage_of(params: Params, layer: int) -> int:
    """The stream that has ``layer``; runs of layers are as equally long as they can be."""
    return layer * params.streams // params.layers


def layer_s(params: Params, layer: int) -> float:
    """How long the kernel of ``layer`` takes, in seconds."""
    place = layer / (params.layers - 1) if params.layers > 1 else 0.5
    return params.kernel_s * (1.0 + params.imbalance * (1.0 - 2.0 * place))


def _batch(params: Params, batch: int) -> list[HostOp]:
    """In on the first stage's stream, through all layers, out on the last one's."""
    data, size, last = f"batch{batch}", params.bytes, f"s{params.streams - 1}"
    ops = [
        *_take(params, data, size, "s0", batch),
        MemcpyAsync("h2d", size, "s0", True, "input", data, chunk=batch),
    ]
    for layer in range(params.layers):
        stage = stage_of(params, layer)
        if layer and stage != stage_of(params, layer - 1):
            done = f"stage{stage - 1}_done"
            ops += [EventRecord(done, f"s{stage - 1}", batch), StreamWaitEvent(done, f"s{stage}", batch)]
        ops += _layer(params, layer, f"s{stage}", batch)
    return [
        *ops,
        MemcpyAsync("d2h", size, last, True, "output", data, chunk=batch),
        *_give(params, data, last, batch),
    ]


def _layer(params: Params, layer: int, stream: str, batch: int) -> list[HostOp]:
    work = Work(FixedCost(layer_s(params, layer)), params.blocks, 1024, name=f"layer{layer}")
    launch = Launch(work, stream, f"batch{batch}", 0, params.bytes, batch)
    if not params.workspace_bytes:
        return [launch]
    space = f"workspace{batch}.{layer}"
    return [
        *_take(params, space, params.workspace_bytes, stream, batch),
        launch,
        *_give(params, space, stream, batch),
    ]


def _take(params: Params, name: str, size: int, stream: str, batch: int) -> list[HostOp]:
    if params.allocation == "none":
        return []
    if params.allocation == "malloc":
        return [Malloc(name, size, batch)]
    return [MallocAsync(name, size, stream, chunk=batch)]


def _give(params: Params, name: str, stream: str, batch: int) -> list[HostOp]:
    if params.allocation == "none":
        return []
    if params.allocation == "malloc":
        return [Free(name, batch)]
    return [FreeAsync(name, stream, batch)]
