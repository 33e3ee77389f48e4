"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import (
    DeviceSync,
    EventRecord,
    EventSync,
    HostOp,
    HostProgram,
    Launch,
    MemcpyAsync,
    Stream,
    StreamSync,
    StreamWaitEvent,
)
from realkernels._parts.host_programs import in_and_out, one_thread, small_work
from realkernels.event_graph import Params


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    ops: list[HostOp] = []
    for step in range(params.rounds):
        # C first: it is there to be in nobody's way.
        ops.append(Launch(small_work(params.c_s, name="C"), "c", chunk=step))
        ops.append(MemcpyAsync("h2d", params.bytes, "a", True, "input", "data", chunk=step))
        ops.append(Launch(small_work(params.a_s, name="A"), "a", "data", 0, params.bytes, step))
        ops += _then(params, "a", "b", step)
        ops.append(Launch(small_work(params.b_s, name="B"), "b", "data", 0, params.bytes, step))
        ops += _then(params, "b", "d", step)
        ops.append(Launch(small_work(params.d_s, name="D"), "d", "data", 0, params.bytes, step))
        ops.append(MemcpyAsync("d2h", params.bytes, "d", True, "output", "data", chunk=step))
        # The next round's copy overwrites the data.
        ops += _then(params, "d", "a", step)
    streams = tuple(Stream(name, "non_blocking") for name in "abcd")
    return one_thread("event_graph", ops, streams=streams, buffers=in_and_out(params.bytes, "pinned"))


def _then(params: Params, first: str, second: str, step: int) -> list[HostOp]:
    event = f"{first}_done"
    if params.ordering == "event":
        return [EventRecord(event, first, step), StreamWaitEvent(event, second, step)]
    if params.ordering == "event_sync":
        return [EventRecord(event, first, step), EventSync(event, step)]
    return [StreamSync(first, step) if params.ordering == "stream_sync" else DeviceSync(step)]
