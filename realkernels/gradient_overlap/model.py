"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import (
    EventRecord,
    FixedCost,
    HostOp,
    HostProgram,
    Launch,
    MemcpyAsync,
    Stream,
    StreamWaitEvent,
    Work,
)
from realkernels._parts.hopper import SMS
from realkernels._parts.host_programs import in_and_out, one_thread, parts
from realkernels.gradient_overlap import Params

AT_ONCE = 2 * SMS
"""Blocks of 1024 threads that the device holds: two on each SM."""
HIGH = -5
"""A priority beyond the highest is the highest."""


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    ops: list[HostOp] = [MemcpyAsync("h2d", params.bytes, "backward", True, "input", "data")]
    for step in range(params.steps):
        ops += _step(params, step * params.buckets)
    ops.append(MemcpyAsync("d2h", params.bytes, "backward", True, "output", "data"))
    priority = HIGH if params.priority == "high" else 0
    streams = (Stream("backward", "non_blocking"), Stream("comm", "non_blocking", priority))
    return one_thread("gradient_overlap", ops, streams=streams, buffers=in_and_out(params.bytes, "pinned"))


def backward_work(params: Params) -> Work:
    """The kernel of one bucket; all its waves together take the bucket's share of the pass."""
    waves = -(-params.blocks // AT_ONCE)
    return Work(FixedCost(params.backward_s / params.buckets / waves), params.blocks, 1024, name="backward")


def comm_work(params: Params) -> Work:
    """The kernel that sends one bucket."""
    return Work(FixedCost(params.comm_s / params.buckets), params.comm_blocks, 512, name="communication")


def _step(params: Params, first: int) -> list[HostOp]:
    """One backward pass, and no more until everything is sent."""
    backward, comm = backward_work(params), comm_work(params)
    ops: list[HostOp] = []
    behind: list[HostOp] = []
    for bucket, (offset, size) in enumerate(parts(params.bytes, params.buckets), start=first):
        ops.append(Launch(backward, "backward", "data", offset, size, bucket))
        if params.overlap == "same_stream":
            ops.append(Launch(comm, "backward", "data", offset, size, bucket))
            continue
        send = Launch(comm, "comm", "data", offset, size, bucket)
        if params.overlap == "overlapped":
            ops += [*_then("ready", "backward", "comm", bucket), send]
        else:
            behind.append(send)
    if behind:
        ops += [*_then("ready", "backward", "comm", first + params.buckets - 1), *behind]
    if params.overlap != "same_stream":
        ops += _then("sent", "comm", "backward", first + params.buckets - 1)
    return ops


def _then(event: str, first: str, second: str, bucket: int) -> list[HostOp]:
    return [EventRecord(event, first, bucket), StreamWaitEvent(event, second, bucket)]
