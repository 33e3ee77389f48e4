"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import FreeAsync, HostOp, HostProgram, Launch, MallocAsync, MemcpyAsync, Pool, Stream
from realkernels._parts.host_programs import full_work, in_and_out, one_thread, parts, small_work
from realkernels.stream_pipeline import Params

KEEP = 1 << 60


def build(params: Params) -> HostProgram:
    """The program of one configuration. Raises ValueError if there are more chunks than words."""
    streams = tuple(Stream(f"s{i}", "non_blocking") for i in range(params.streams))
    stages = [_stages(params, chunk, *part) for chunk, part in enumerate(parts(params.bytes, params.chunks))]
    if params.order == "depth":
        ops = [op for stage in stages for op in stage]
    else:
        rounds = [stages[i : i + params.streams] for i in range(0, len(stages), params.streams)]
        ops = [op for together in rounds for step in zip(*together, strict=True) for op in step]
    pools = (Pool("default", release_threshold=KEEP),) if params.allocation == "pool" else ()
    buffers = in_and_out(params.bytes, params.memory)
    return one_thread("stream_pipeline", ops, streams=streams, buffers=buffers, pools=pools)


def _stages(params: Params, chunk: int, offset: int, size: int) -> list[HostOp]:
    stream, pinned = f"s{chunk % params.streams}", params.memory == "pinned"
    pool = params.allocation == "pool"
    device, start = (f"chunk{chunk}", 0) if pool else ("data", offset)
    seconds = params.kernel_s * size / params.bytes
    work = full_work(seconds) if params.footprint == "full" else small_work(seconds)
    steps: list[HostOp] = [
        MemcpyAsync("h2d", size, stream, pinned, "input", device, offset, start, chunk),
        Launch(work, stream, device, start, size, chunk),
        MemcpyAsync("d2h", size, stream, pinned, "output", device, offset, start, chunk),
    ]
    if pool:
        return [MallocAsync(device, size, stream, chunk=chunk), *steps, FreeAsync(device, stream, chunk)]
    return steps
