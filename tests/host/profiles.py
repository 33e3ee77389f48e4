"""The textbook device with host quantities: no overheads, 32 GB/s each way."""

from __future__ import annotations

from dataclasses import replace

from gpusim.hardware.profile import DeviceProfile, Quantity, load_profile

TIMES = (
    *(
        f"host.{api}.{call}"
        for api in ("cupy", "cuda")
        for call in (
            "launch", "memcpy_async", "memcpy", "event_record", "stream_wait_event", "host_func", "host_func_run", "sync",
            "sync_wake", "malloc_async", "free_async", "cache_hit", "cache_give", "graph_launch", "graph_launch_node", "slot_wake",
        )
    ),
    "alloc.device", "alloc.device_free", "alloc.host", "alloc.host_free", "pool.grow", "pool.release",
    "copy.h2d_overhead", "copy.d2h_overhead", "copy.d2d_overhead", "copy.p2p_overhead", "pageable.h2d_overhead",
    "pageable.d2h_overhead", "stream.start", "stream.copy_start", "stream.kernel_kernel", "stream.kernel_copy",
    "stream.copy_kernel", "stream.copy_copy", "stream.event", "stream.event_hop", "graph.start", "graph.node", "graph.fork",
    "graph.launch_gap",
)  # fmt: skip
OTHERS = {
    "alloc.device_rate": 1e15, "alloc.device_free_rate": 1e15, "alloc.host_rate": 1e15, "alloc.host_free_rate": 1e15,
    "pool.grow_rate": 1e15, "pool.release_rate": 1e15, "alloc.waits": 0, "alloc.free_waits": 1, "alloc.host_waits": 0,
    "alloc.host_free_waits": 1, "pool.granularity": 2 << 20, "copy.engines": 3, "copy.h2d_bandwidth": 32e9,
    "copy.d2h_bandwidth": 32e9, "copy.d2d_bandwidth": 1e12, "copy.p2p_bandwidth": 300e9, "copy.duplex_bandwidth": 64e9,
    "pageable.h2d_rate": 16e9, "pageable.d2h_rate": 16e9, "pageable.waits": 1, "stream.queue_depth": 1e6,
    "stream.connections": 1e6, "stream.resident_grids": 128,
}  # fmt: skip


def textbook(**changes: float) -> DeviceProfile:
    """The device; ``changes`` are quantities with ``__`` for the dot."""
    base = load_profile("textbook")
    values = {
        **dict.fromkeys(TIMES, 0.0),
        **OTHERS,
        **{key.replace("__", "."): value for key, value in changes.items()},
    }
    quantities = dict(base.quantities)
    for key, value in values.items():
        quantities[key] = Quantity(key, float(value), "", str(value), "specified", "by definition")
    return replace(base, quantities=quantities)
