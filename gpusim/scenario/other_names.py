"""What people call a word or a field that has another name here, in CUDA or in plain English."""

from __future__ import annotations

from collections.abc import Collection

from gpusim.errors import nearest

__all__ = ["closest"]

_OTHER_NAMES = {
    # Fields of kernels.
    "regs": "registers", "smem": "shared_bytes", "shared": "shared_bytes", "shared_memory": "shared_bytes",
    "ctas": "grid", "tiles": "tiles_per_cta", "size": "bytes", "depth": "stages", "count": "times",
    "threads": "warps", "cluster_dims": "cluster", "cluster_size": "cluster", "clusters": "cluster",
    # Words of op lists.
    "ldg": "load", "stg": "store", "ldgsts": "cp_async", "syncthreads": "sync_threads", "bar": "sync_threads",
    "atomicadd": "atomic", "atomic_add": "atomic", "atom": "atomic", "red": "atomic",
    # Fields and calls of host programs.
    "loops": "chunks", "iterations": "chunks", "per_iteration": "per_chunk", "per_loop": "per_chunk",
    "kernel": "launch", "callback": "host_func", "graph_launch": "launch_graph", "memcpy": "h2d",
    "sync": "sync_stream", "synchronize": "sync_stream", "stream_synchronize": "sync_stream",
    "device_synchronize": "sync_device", "event_synchronize": "sync_event", "event_record": "record",
    "c++": "cuda", "cpp": "cuda", "c": "cuda", "python": "cupy", "numba": "cupy", "pytorch": "cupy", "torch": "cupy",
    "event_query": "sync_event", "query_event": "sync_event", "query": "sync_event",
    "poll": "sync_event", "sleep": "work", "compute": "work",
}  # fmt: skip


def closest(given: str, allowed: Collection[str]) -> str | None:
    """The one of ``allowed`` that ``given`` means or is nearest to, if any."""
    other = _OTHER_NAMES.get(given.casefold())
    return other if other in allowed else nearest(given, allowed)
