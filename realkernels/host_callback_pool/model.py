"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import (
    AcquireSlot,
    Buffer,
    HostFunc,
    HostOp,
    HostProgram,
    HostWork,
    Launch,
    MemcpyAsync,
    Slots,
    Stream,
)
from realkernels._parts.host_programs import full_work, one_thread
from realkernels.host_callback_pool import Params


def build(params: Params) -> HostProgram:
    """The program of one configuration. The buffers are a ring: a batch waits for its own one."""
    ops: list[HostOp] = []
    for batch in range(params.batches):
        number, slot = batch % params.streams, f"slot{batch % params.slots}"
        stream, data = f"s{number}", f"data{number}"
        give_back = HostFunc(stream, params.callback_s, releases=slot, chunk=batch)
        launch = Launch(full_work(params.kernel_s), stream, data, 0, params.bytes, batch)
        ops += [
            AcquireSlot(slot, batch),
            HostWork(params.fill_s, "fill", batch),
            MemcpyAsync("h2d", params.bytes, stream, True, slot, data, chunk=batch),
            *((give_back, launch) if params.recycle == "after_copy" else (launch, give_back)),
        ]
    streams = range(min(params.streams, params.batches))
    for number in streams:
        ops.append(MemcpyAsync("d2h", params.bytes, f"s{number}", True, f"output{number}", f"data{number}"))
    return one_thread(
        "host_callback_pool",
        ops,
        streams=tuple(Stream(f"s{i}", "non_blocking") for i in streams),
        buffers=(
            *(Buffer(f"slot{i}", params.bytes, "pinned") for i in range(params.slots)),
            *(Buffer(f"output{i}", params.bytes, "pinned") for i in streams),
            *(Buffer(f"data{i}", params.bytes, "device") for i in streams),
        ),
        slots=tuple(Slots(f"slot{i}", 1) for i in range(params.slots)),
    )
