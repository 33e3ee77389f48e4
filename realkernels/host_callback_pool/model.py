"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import AcquireSlot, Buffer, HostFunc, HostOp, HostProgram, HostWork, Launch, MemcpyAsync, Slots, Stream
from realkernels.host_callback_pool import Params
from realkernels.host_parts import full_work, one_thread


def build(params: Params) -> HostProgram:
    """The program of one configuration: one stream, so buffers come back in the order in which they were taken."""
    ops: list[HostOp] = []
    for batch in range(params.batches):
        slot = f"slot{batch % params.slots}"
        give_back = HostFunc("s0", params.callback_s, releases="ring", chunk=batch)
        launch = Launch(full_work(params.kernel_s), "s0", "data", 0, params.bytes, batch)
        ops += [
            AcquireSlot("ring", batch),
            HostWork(params.fill_s, "fill", batch),
            MemcpyAsync("h2d", params.bytes, "s0", True, slot, "data", chunk=batch),
            *((give_back, launch) if params.recycle == "after_copy" else (launch, give_back)),
        ]
    ops.append(MemcpyAsync("d2h", params.bytes, "s0", True, "output", "data", chunk=params.batches))
    ring = tuple(Buffer(f"slot{i}", params.bytes, "pinned") for i in range(params.slots))
    return one_thread(
        "host_callback_pool",
        ops,
        streams=(Stream("s0", "non_blocking"),),
        buffers=(*ring, Buffer("output", params.bytes, "pinned"), Buffer("data", params.bytes, "device")),
        slots=(Slots("ring", params.slots),),
    )
