"""Which quantities of a device a host program depends on, as far as its calls tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from gpusim.hardware.assumptions import used_of
from gpusim.hardware.profile import HOST_GROUPS, DeviceProfile
from gpusim.host.costs import HostApi
from gpusim.program import KernelProgram
from gpusim.program.host import (
    FreeAsync,
    HostOp,
    HostProgram,
    Launch,
    MallocAsync,
    Memcpy,
    MemcpyAsync,
    RooflineCost,
    Work,
)

__all__ = ["assumed_of"]

_ONLY_FOR: dict[str, tuple[str, ...]] = {
    "alloc.": ("Malloc", "Free", "MallocHost", "FreeHost", "caching"),
    "copy.": ("MemcpyAsync", "MemsetAsync", "Memcpy"),
    "copy.clear": ("Malloc", "caching", "driver"),
    "copy.d2d": ("d2d", "MemsetAsync"), "copy.d2d_bandwidth": ("d2d",), "copy.d2d_overhead": ("d2d",),
    "copy.d2h": ("d2h",), "copy.h2d": ("h2d",), "copy.memset": ("MemsetAsync",), "copy.p2p": ("p2p",),
    "graph.": ("GraphLaunch",),
    "host.acquire": ("AcquireSlot", "ReleaseSlot"), "host.slot_wake": ("AcquireSlot",), "wake.slot": ("AcquireSlot",),
    "host.after_func": ("HostFunc",), "host.func_steals": ("HostFunc",), "host.host_func": ("HostFunc",),
    "host.cache_": ("caching",),
    "host.free_async": ("FreeAsync",), "host.malloc_async": ("driver",),
    "host.graph_launch": ("GraphLaunch",),
    "host.lock": ("threads",), "host.thread_first": ("threads",),
    "host.memcpy_peer": ("p2p",), "host.memcpy_pull": ("p2p",), "host.memset": ("MemsetAsync",),
    "host.set_device": ("SetDevice",), "host.wait_peer": ("devices",),
    "pageable.": ("pageable",),
    "pool.": ("driver",), "pool.look_": ("freeing",),
    "stream.func_": ("HostFunc",), "wake.func": ("HostFunc",),
    "stream.peer_": ("devices",),
}  # fmt: skip
"""Host quantities, by the beginning of their name without the API, that only matter to a program with one of these."""

_OF_BLOCKS = frozenset({
    "cta.max_registers_per_thread", "cta.max_shared_memory", "cta.max_threads", "cta.reserved_shared_memory",
    "cta.restart", "launch.cta_interval", "launch.least", "sm.clock", "sm.count", "sm.max_ctas", "sm.max_warps",
    "sm.register_allocation_unit", "sm.registers", "sm.schedulers", "sm.shared_allocation_unit", "sm.shared_memory",
})  # fmt: skip
"""What the blocks of a kernel depend on that is not spelled out."""
_OF_WORK = frozenset({"hbm.mix_loss", "hbm.read_bandwidth", "hbm.write_bandwidth", "sm.ffma_issue_rate"})
"""What a kernel depends on besides `_OF_BLOCKS` where it says its work, not its duration."""
_OF_COPIES = _OF_BLOCKS | {"hbm.mix_loss", "hbm.read_bandwidth", "hbm.write_bandwidth"}
"""What a copy within the device depends on besides ``copy.*``."""
_OF_MEMSETS = _OF_BLOCKS | {"hbm.write_bandwidth"}
"""What a memset depends on besides ``host.memset``."""


def assumed_of(program: HostProgram, profile: DeviceProfile, api: HostApi) -> list[str]:
    """Names of the quantities that nobody measured or specified and on which ``program`` depends, or may."""
    calls = [*chain.from_iterable(part.ops for part in (*program.threads, *program.graphs))]
    has = set(_features(program, calls))
    kernels = {id(op.kernel): op.kernel for op in calls if isinstance(op, Launch)}.values()
    of_kernels = set(chain.from_iterable(_of_kernel(kernel, profile.assumed) for kernel in kernels))
    if "d2d" in has:
        of_kernels |= _OF_COPIES
    if "MemsetAsync" in has:
        of_kernels |= _OF_MEMSETS
    return [
        key
        for key in profile.assumed_with_host
        if (_matters(key, api, has) if key.split(".")[0] in HOST_GROUPS else key in of_kernels)
    ]


def _features(program: HostProgram, calls: Iterable[HostOp]) -> Iterator[str]:
    """Types of its calls, ways and memory of its copies, kinds of pools; what there are several of."""
    pools = {pool.name: pool.kind for pool in program.pools}
    for op in calls:
        yield type(op).__name__
        if isinstance(op, MemcpyAsync | Memcpy):
            yield op.direction
            yield "pinned" if op.pinned else "pageable"
        elif isinstance(op, MallocAsync):
            yield pools.get(op.pool, "driver")
    if len(program.threads) > 1:
        yield "threads"
    if len({op.stream for op in calls if isinstance(op, FreeAsync)}) > 1:
        yield "freeing"
    if program.devices > 1:
        yield "devices"


def _matters(key: str, api: HostApi, has: set[str]) -> bool:
    group, first, rest = (*key.split(".", 2), "")[:3]
    if group == "host" and first != api:
        return False
    name = f"host.{rest}" if group == "host" else key
    return all(not name.startswith(start) or has.intersection(needed) for start, needed in _ONLY_FOR.items())


def _of_kernel(kernel: Work | KernelProgram, keys: list[str]) -> list[str]:
    if isinstance(kernel, KernelProgram):
        return used_of(keys, kernel)
    depends = _OF_BLOCKS | _OF_WORK if isinstance(kernel.cost, RooflineCost) else _OF_BLOCKS
    return [key for key in keys if key in depends]
