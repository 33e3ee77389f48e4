"""The runtime calls of one configuration."""

from __future__ import annotations

from itertools import zip_longest

from gpusim.program.host import Buffer, HostOp, HostProgram, Launch, MemcpyAsync, Stream
from realkernels._parts.host_programs import full_work, one_thread, parts
from realkernels.copy_engines import Params

_BUFFERS = {"h2d": ("input", "in_data"), "d2h": ("output", "out_data"), "d2d": ("source", "target")}


def build(params: Params) -> HostProgram:
    """The program of one configuration. Raises ValueError if there are more copies than words."""
    totals = {"h2d": params.h2d_bytes, "d2h": params.d2h_bytes, "d2d": params.d2d_bytes}
    rows = [_copies(params, direction, total) for direction, total in totals.items() if total]
    copies = (
        [op for row in rows for op in row]
        if params.issue == "grouped"
        else [op for step in zip_longest(*rows) for op in step if op is not None]
    )
    kernel: list[HostOp] = [Launch(full_work(params.kernel_s), "kernel")] if params.kernel_s else []
    names = ["kernel", *dict.fromkeys(op.stream for op in copies)]
    return one_thread(
        "copy_engines",
        [*kernel, *copies],
        streams=tuple(Stream(name, "non_blocking") for name in names),
        buffers=tuple(buffer for direction, total in totals.items() if total for buffer in _buffers(direction, total)),
    )


def _buffers(direction: str, total: int) -> tuple[Buffer, Buffer]:
    host, device = _BUFFERS[direction]
    return Buffer(host, total, "device" if direction == "d2d" else "pinned"), Buffer(device, total, "device")


def _copies(params: Params, direction: str, total: int) -> list[MemcpyAsync]:
    host, device = _BUFFERS[direction]
    return [
        MemcpyAsync(
            direction, size, f"{direction}{i % params.streams_per_direction}", True, host, device, offset, offset, i
        )
        for i, (offset, size) in enumerate(parts(total, params.copies))
    ]
