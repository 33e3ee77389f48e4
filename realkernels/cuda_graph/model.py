"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import (
    EventRecord,
    Graph,
    GraphLaunch,
    HostProgram,
    Launch,
    MemcpyAsync,
    Stream,
    StreamOp,
    StreamWaitEvent,
)
from realkernels._parts.host_programs import in_and_out, one_thread, small_work
from realkernels.cuda_graph import Params


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    chain = _chain(params)
    streams = tuple(Stream(f"s{i}", "non_blocking") for i in range(params.branches))
    buffers = in_and_out(params.bytes, "pinned") if params.bytes else ()
    if params.mode == "graph":
        ops = [GraphLaunch("chain", "s0", i) for i in range(params.replays)]
        return one_thread("cuda_graph", ops, streams=streams, buffers=buffers, graphs=(Graph("chain", tuple(chain)),))
    return one_thread("cuda_graph", chain * params.replays, streams=streams, buffers=buffers)


def _chain(params: Params) -> list[StreamOp]:
    work = small_work(params.kernel_s, 4)
    ops: list[StreamOp] = []
    if params.bytes:
        ops.append(MemcpyAsync("h2d", params.bytes, "s0", True, "input", "data"))
    if params.branches > 1:
        ops.append(EventRecord("fork", "s0"))
        ops += [StreamWaitEvent("fork", f"s{i}") for i in range(1, params.branches)]
    for node in range(params.nodes):
        branch = node % params.branches
        # Only the first branch touches the data, so that branches do not race for it.
        where = ("data", 0, params.bytes) if params.bytes and branch == 0 else ("", 0, 0)
        ops.append(Launch(work, f"s{branch}", *where, chunk=node))
    for i in range(1, params.branches):
        ops += [EventRecord(f"join{i}", f"s{i}"), StreamWaitEvent(f"join{i}", "s0")]
    if params.bytes:
        ops.append(MemcpyAsync("d2h", params.bytes, "s0", True, "output", "data"))
    return ops
