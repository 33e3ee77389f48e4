"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import HostOp, HostProgram, HostThread, Launch, Stream
from realkernels._parts.host_programs import small_work
from realkernels.default_streams import Params


def build(params: Params) -> HostProgram:
    """The program of one configuration. Per-thread workers are threads with a stream of one name each."""
    streams = [Stream("stray", "blocking" if params.stray == "none" else params.stray)]
    if params.workers == "per_thread":
        streams.append(Stream("own", "per_thread"))
        threads = tuple(HostThread(f"worker{i}", tuple(_tasks(params, ["own"], i == 0))) for i in range(params.streams))
        return HostProgram("default_streams", threads, tuple(streams))
    names = ["s0"] if params.workers == "legacy" else [f"s{i}" for i in range(params.streams)]
    streams += [Stream(name, params.workers) for name in names]
    lanes = [names[i % len(names)] for i in range(params.streams)]
    return HostProgram("default_streams", (HostThread("main", tuple(_tasks(params, lanes, True))),), tuple(streams))


def _tasks(params: Params, lanes: list[str], stray: bool) -> list[HostOp]:
    ops: list[HostOp] = []
    for task in range(params.tasks):
        ops += [Launch(small_work(params.kernel_s), lane, chunk=task) for lane in lanes]
        if stray and params.stray != "none" and (task + 1) % params.stray_every == 0:
            ops.append(Launch(small_work(params.stray_s, 1, "stray"), "stray", chunk=task))
    return ops
