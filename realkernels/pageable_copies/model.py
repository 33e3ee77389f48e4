"""The runtime calls of one configuration."""

from __future__ import annotations

from gpusim.program.host import HostOp, HostProgram, Launch, Memcpy, MemcpyAsync, Stream
from realkernels._parts.host_programs import full_work, in_and_out, one_thread, parts
from realkernels.pageable_copies import Params


def build(params: Params) -> HostProgram:
    """The program of one configuration. Raises ValueError if there are more chunks than words."""
    ops: list[HostOp] = []
    for chunk, (offset, size) in enumerate(parts(params.bytes, params.chunks)):
        stream = f"s{chunk % params.streams}"
        work = full_work(params.kernel_s * size / params.bytes)
        if params.directions != "d2h":
            ops.append(_copy(params, "h2d", stream, chunk, offset, size))
        ops.append(Launch(work, stream, "data", offset, size, chunk))
        if params.directions != "h2d":
            ops.append(_copy(params, "d2h", stream, chunk, offset, size))
    # cudaMemcpy works on the legacy stream, and only blocking streams are ordered with that.
    kind = "blocking" if params.calls == "sync" else "non_blocking"
    streams = tuple(Stream(f"s{i}", kind) for i in range(params.streams))
    if params.calls == "sync":
        streams += (Stream("default", "legacy"),)
    return one_thread("pageable_copies", ops, streams=streams, buffers=in_and_out(params.bytes, params.memory))


def _copy(params: Params, direction: str, stream: str, chunk: int, offset: int, size: int) -> HostOp:
    host, pinned = "input" if direction == "h2d" else "output", params.memory == "pinned"
    if params.calls == "sync":
        return Memcpy(direction, size, pinned, host, "data", offset, offset, chunk)
    return MemcpyAsync(direction, size, stream, pinned, host, "data", offset, offset, chunk)
