"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import (
    AT_BEGINNING,
    FixedCost,
    Graph,
    GraphLaunch,
    HostProgram,
    Launch,
    MemcpyAsync,
    Stream,
    StreamOp,
    Work,
)
from realkernels._parts.host_programs import in_and_out, one_thread
from realkernels.dependent_launch import Params

_TRIGGERS = {"first": AT_BEGINNING, "start": 0.0, "half": 0.5, "end": 1.0}


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    work = Work(
        FixedCost(params.work_s), params.blocks, params.threads, shared_bytes=params.shared_bytes,
        prologue_s=params.prologue_s, trigger=_TRIGGERS[params.trigger],
    )  # fmt: skip
    early = params.launch == "programmatic"
    ops: list[StreamOp] = [MemcpyAsync("h2d", params.bytes, "s0", True, "input", "data")]
    ops += [
        Launch(work, "s0", "data", 0, params.bytes, chunk=number, programmatic=early)
        for number in range(params.kernels)
    ]
    ops.append(MemcpyAsync("d2h", params.bytes, "s0", True, "output", "data"))
    shared = {"streams": (Stream("s0", "non_blocking"),), "buffers": in_and_out(params.bytes, "pinned")}
    if params.mode == "graph":
        graphs = (Graph("chain", tuple(ops)),)
        return one_thread("dependent_launch", [GraphLaunch("chain", "s0")], graphs=graphs, **shared)
    return one_thread("dependent_launch", ops, **shared)
