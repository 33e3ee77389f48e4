"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import FixedCost, HostOp, HostProgram, HostWork, Launch, Stream, Work
from realkernels._parts.hopper import SMS
from realkernels._parts.host_programs import one_thread
from realkernels.concurrent_kernels import Params


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    work = Work(FixedCost(params.block_s), params.blocks, params.threads, params.registers, params.shared_bytes)
    streams = [Stream(f"s{i}", "non_blocking") for i in range(params.streams)]
    ops: list[HostOp] = [Launch(work, f"s{i % params.streams}", chunk=i) for i in range(params.kernels)]
    if params.urgent != "none":
        streams.append(Stream("urgent", "non_blocking", -5 if params.urgent == "high" else 0))
        urgent = Work(
            FixedCost(params.block_s / 4), SMS, params.threads, params.registers, params.shared_bytes, "urgent"
        )
        ops += [HostWork(params.block_s / 2), Launch(urgent, "urgent", chunk=params.kernels)]
    return one_thread("concurrent_kernels", ops, streams=tuple(streams))
