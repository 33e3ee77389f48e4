"""Device, pool and pinned allocation: cost by size, warm and cold pools, release thresholds, a busy device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import H2D, Lab, spread, time_calls

NOTES = {
    "take": "the allocating call; give: the freeing call; sync: the stream synchronisation that follows",
    "hit": "the pool holds a free block of this size; miss: it holds nothing",
    "where": "new memory of the device or of a pool that grows, or kept by a pool; the time is that of a copy of 1 MiB "
    "to the device and of the wait for it, right behind the allocating call (take_s)",
    "arena": "MiB that a pool has from the OS after each step",
    "looks": "an allocation from a pool's free end, by what ``others`` do that free into it (alone: there are none; "
    "idle: nothing since a synchronisation; done: nothing, but another one works; busy: they work, a free behind each)",
    "lead": "how many frees are in flight before the same sizes are asked for again",
}
DEVICE_SIZES = (4 * KIB, 256 * KIB, MIB, 2 * MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB)
HOST_SIZES = (4 * KIB, 64 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB)
RESERVED = 5
"""cudaMemPoolAttrReservedMemCurrent."""
POOL_SIZES = (64 * KIB, MIB, 2 * MIB, 16 * MIB, 64 * MIB, 256 * MIB)


def _plain(lab: Lab) -> Iterator[dict]:
    runtime, (stream,) = lab.runtime, lab.streams(1)
    sync = stream.synchronize
    for size in DEVICE_SIZES:
        yield from _pairs("cuda_malloc", size, 10, lambda size=size: runtime.malloc(size), runtime.free, sync)
    for size in HOST_SIZES:
        count = 6 if size <= 16 * MIB else 3
        yield from _pairs(
            "malloc_host", size, count, lambda size=size: runtime.hostAlloc(size, 0), runtime.freeHost, sync
        )


def _half_pages(lab: Lab) -> Iterator[dict]:
    """CudaMalloc of 1 MiB and less while a block that leaves room in its page is held, and while none is."""
    runtime, (stream,) = lab.runtime, lab.streams(1)
    for held in (0, 1):
        kept = [runtime.malloc(MIB // 2) for _ in range(held)]
        for size in (256 * KIB, MIB // 2, MIB, 3 * MIB // 2, 15 * MIB // 8):
            yield from (
                {**row, "held": held}
                for row in _pairs(
                    "half_page", size, 10, lambda size=size: runtime.malloc(size), runtime.free, stream.synchronize
                )
            )
        for pointer in kept:
            runtime.free(pointer)


def _thresholds(lab: Lab) -> Iterator[dict]:
    runtime, (stream,) = lab.runtime, lab.streams(1)
    for threshold in (0, 1 << 60):
        pool = _pool(runtime, threshold)
        for size in POOL_SIZES:
            runtime.deviceSynchronize()
            runtime.memPoolTrimTo(pool, 0)
            yield from _pairs(
                f"pool_threshold_{'max' if threshold else '0'}", size, 20,
                lambda size=size, pool=pool: runtime.mallocFromPoolAsync(size, pool, stream.ptr),
                lambda pointer: runtime.freeAsync(pointer, stream.ptr), stream.synchronize,
            )  # fmt: skip
        yield from _without_sync(lab, stream, pool, threshold)
        runtime.memPoolDestroy(pool)


def _cleared(lab: Lab) -> Iterator[dict]:
    """A copy to the device right behind a call that takes memory: new memory, and memory that a pool has kept."""
    runtime, (stream,) = lab.runtime, lab.streams(1)
    new, kept = _pool(runtime, 0), _pool(runtime, 1 << 60)
    for size in (32 * MIB, 64 * MIB):
        for where, take, give in (
            ("device", lambda size=size: runtime.malloc(size), runtime.free),
            ("pool", lambda size=size: runtime.mallocFromPoolAsync(size, new, stream.ptr), None),
            ("kept", lambda size=size: runtime.mallocFromPoolAsync(size, kept, stream.ptr), None),
        ):
            takes, copies = [], []
            for _ in range(12):
                held: list[int] = []
                takes.append(time_calls(lambda held=held, take=take: held.append(take()), 1)[0])
                copies.append(time_calls(lambda: (lab.copy(stream, H2D, MIB), stream.synchronize()), 1)[0])
                (give or (lambda pointer: runtime.freeAsync(pointer, stream.ptr)))(held[0])
                stream.synchronize()
            yield {"kind": "cleared", "where": where, "bytes": size, "take_s": spread(takes[1:])["median_s"],
                   **spread(copies[1:])}  # fmt: skip
    for pool in (new, kept):
        runtime.memPoolDestroy(pool)


def _pool(runtime: Any, threshold: int) -> int:
    pool = runtime.memPoolCreate(runtime.MemPoolProps(1, 0, 1, 0))
    runtime.memPoolSetAttribute(pool, runtime.cudaMemPoolAttrReleaseThreshold, threshold)
    return pool


def _pairs(
    name: str, size: int, count: int, take: Callable[[], Any], give: Callable[[Any], object], sync: Callable
) -> Iterator[dict]:
    """Take, give, synchronise, again and again; the first round is a row of its own."""
    samples: dict[str, list[float]] = {"take": [], "give": [], "sync": []}
    for _ in range(count):
        held: list[Any] = []
        samples["take"].append(time_calls(lambda held=held: held.append(take()), 1)[0])
        samples["give"].append(time_calls(lambda held=held: give(held[0]), 1)[0])
        samples["sync"].append(time_calls(sync, 1)[0])
    for part, values in samples.items():
        yield {"kind": name, "part": part, "bytes": size, "first_s": float(values[0]), **spread(values[1:])}


def _without_sync(lab: Lab, stream: Any, pool: int, threshold: int) -> Iterator[dict]:
    """Take and give in a row without any synchronisation: every take after the first is a hit."""
    runtime = lab.runtime
    for size in (MIB, 64 * MIB):
        takes, gives = [], []
        for _ in range(60):
            held: list[int] = []
            takes.append(
                time_calls(
                    lambda held=held, size=size: held.append(runtime.mallocFromPoolAsync(size, pool, stream.ptr)), 1
                )[0]
            )
            gives.append(time_calls(lambda held=held: runtime.freeAsync(held[0], stream.ptr), 1)[0])
        stream.synchronize()
        for part, values in (("take", takes), ("give", gives)):
            yield {"kind": "pool_hit", "threshold": "max" if threshold else "0", "part": part, "bytes": size,
                   "first_s": float(values[0]), **spread(values[1:])}  # fmt: skip


def _growing(lab: Lab) -> Iterator[dict]:
    """A pool that grows: each take finds nothing free and asks the OS."""
    runtime, pool, (stream,) = lab.runtime, _pool(lab.runtime, 1 << 60), lab.streams(1)
    for size in (MIB, 2 * MIB, 16 * MIB, 64 * MIB, 256 * MIB):
        held: list[int] = []
        values = time_calls(
            lambda size=size, held=held: held.append(runtime.mallocFromPoolAsync(size, pool, stream.ptr)), 12
        )
        yield {"kind": "pool_miss", "part": "take", "bytes": size, "first_s": float(values[0]), **spread(values[1:])}
        busy: list[int] = []
        lab.kernel(stream, 0, 3e-3)
        beside = time_calls(
            lambda size=size, busy=busy: busy.append(runtime.mallocFromPoolAsync(size, pool, stream.ptr)), 4
        )
        yield {"kind": "pool_miss_busy", "part": "take", "bytes": size, "first_s": float(beside[0]), **spread(beside)}
        for pointer in held + busy:
            runtime.freeAsync(pointer, stream.ptr)
        stream.synchronize()
        runtime.memPoolTrimTo(pool, 0)
    runtime.memPoolDestroy(pool)


def _release(lab: Lab) -> Iterator[dict]:
    """What a synchronisation costs that gives memory back (threshold 0), by how much there is."""
    runtime, (one,) = lab.runtime, lab.streams(1)
    pool = _pool(runtime, 0)
    for blocks, size in ((1, 2 * MIB), (8, 2 * MIB), (1, 64 * MIB), (8, 64 * MIB)):
        for call in ("stream_sync", "device_sync", "event_sync"):
            event = lab.cupy.cuda.Event(disable_timing=True)
            syncs = []
            for _ in range(4):
                held = [runtime.mallocFromPoolAsync(size, pool, one.ptr) for _ in range(blocks)]
                for pointer in held:
                    runtime.freeAsync(pointer, one.ptr)
                event.record(one)
                wait = {"stream_sync": one.synchronize, "device_sync": runtime.deviceSynchronize,
                        "event_sync": event.synchronize}[call]  # fmt: skip
                syncs.append(time_calls(wait, 1)[0])
            yield {"kind": "pool_release", "part": call, "blocks": blocks, "bytes": blocks * size, **spread(syncs)}
    runtime.memPoolDestroy(pool)


def _reuse(lab: Lab) -> Iterator[dict]:
    """Is a block that was freed on one stream handed out on another, and when may that one run?"""  # noqa: D400
    runtime, (one, two) = lab.runtime, lab.streams(2)
    pool, event = _pool(runtime, 1 << 60), lab.cupy.cuda.Event(disable_timing=True)
    for relation in ("none", "event", "completed"):
        pointer = runtime.mallocFromPoolAsync(16 * MIB, pool, one.ptr)
        lab.kernel(one, 0, 2e-3)
        runtime.freeAsync(pointer, one.ptr)
        if relation == "event":
            event.record(one)
            two.wait_event(event)
        if relation == "completed":
            one.synchronize()
        again: list[int] = []
        cost = time_calls(lambda again=again: again.append(runtime.mallocFromPoolAsync(16 * MIB, pool, two.ptr)), 1)[0]
        lab.kernel(two, 1, 0.0)
        lab.runtime.deviceSynchronize()
        first, _ = lab.stamps(2)
        yield {"kind": "pool_reuse", "relation": relation, "reused": again[0] == pointer, "take_s": float(cost),
               "second_after_first_s": float(first[1] - first[0])}  # fmt: skip
        runtime.freeAsync(again[0], two.ptr)
        runtime.deviceSynchronize()
        lab.reset()
    runtime.memPoolDestroy(pool)


LOOKED_AT = 8


def _looks(lab: Lab) -> Iterator[dict]:
    """What looking at other streams takes: each has freed into the pool before."""
    runtime, (own, working, *others) = lab.runtime, lab.streams(2 + LOOKED_AT)
    for state in ("alone", "idle", "done", "busy"):
        pool, times = _pool(runtime, 1 << 60), []
        users = others if state != "alone" else []
        for _ in range(15):
            blocks = {stream: runtime.mallocFromPoolAsync(MIB, pool, stream.ptr) for stream in users}
            if state != "busy":
                for stream, pointer in blocks.items():
                    runtime.freeAsync(pointer, stream.ptr)
            runtime.deviceSynchronize()
            for stream in {"done": [working], "busy": users}.get(state, ()):
                lab.kernel(stream, 0, 1e-3)
            if state == "busy":
                for stream, pointer in blocks.items():
                    runtime.freeAsync(pointer, stream.ptr)
            held: list[int] = []
            take = lambda held=held, pool=pool: held.append(runtime.mallocFromPoolAsync(2 * MIB, pool, own.ptr))  # noqa: E731
            times += list(time_calls(take, 3)[1:])
            runtime.deviceSynchronize()
            for pointer in held:
                runtime.freeAsync(pointer, own.ptr)
            runtime.deviceSynchronize()
        yield {"kind": "looks", "state": state, "others": LOOKED_AT, **spread(times[2:])}
        runtime.memPoolDestroy(pool)


def _caching(lab: Lab) -> Iterator[dict]:
    """CuPy's own pool: a block it holds, and one it has to ask cudaMalloc for."""
    import cupy

    (stream,) = lab.streams(1)
    for size in (MIB, 64 * MIB):
        pool = cupy.cuda.MemoryPool()
        with stream:
            held = [pool.malloc(size)]
            held.clear()
            values = time_calls(lambda size=size, held=held, pool=pool: held.append(pool.malloc(size)), 1)
            hits, gives = [], []
            for _ in range(100):
                gives.append(time_calls(held.clear, 1)[0])
                hits.append(time_calls(lambda size=size, held=held, pool=pool: held.append(pool.malloc(size)), 1)[0])
            misses = time_calls(lambda size=size, held=held, pool=pool: held.append(pool.malloc(size)), 8)
            held.clear()
            frees = time_calls(pool.free_all_blocks, 1)
        yield {"kind": "caching_hit", "part": "take", "bytes": size, "first_s": float(values[0]), **spread(hits)}
        yield {"kind": "caching_hit", "part": "give", "bytes": size, **spread(gives)}
        yield {"kind": "caching_miss", "part": "take", "bytes": size, **spread(misses)}
        yield {"kind": "caching_free_all", "part": "give", "bytes": size, "blocks": 9, **spread(frees)}


ARENA = {
    "growing": [step for size in (2, 8, 16, 32, 48, 64, 96, 40) for step in (size, -size)],
    "side by side": [4] * 8 + [-4] * 8 + [32],
    "across two": [20, 20, -20, -20, 40, 20, -40, -20, 60, 33],
    "holes": [4] * 8 + [-4, 0] * 4 + [8, 4, 4, 12],
    "giving back": [20, 20, 20, -20, -20, 0, 12, 40],
}
"""MiB that are taken from a pool and given back, the oldest first (a 0 behind it: and another one is passed over)."""


def _arena(lab: Lab) -> Iterator[dict]:
    """How much a pool has from the OS after each step, all of which are complete before the next one."""
    runtime, (stream,) = lab.runtime, lab.streams(1)
    for threshold in (0, 1 << 60):
        for name, steps in ARENA.items():
            pool, held, reserved = _pool(runtime, threshold), [], []
            for size in steps:
                if size > 0:
                    held.append(runtime.mallocFromPoolAsync(size * MIB, pool, stream.ptr))
                elif size < 0:
                    runtime.freeAsync(held.pop(0), stream.ptr)
                else:
                    held.append(held.pop(0))
                stream.synchronize()
                reserved.append(runtime.memPoolGetAttribute(pool, RESERVED) // MIB)
            yield {"kind": "arena", "name": name, "threshold": "max" if threshold else "0", "steps_mib": steps,
                   "reserved_mib": reserved}  # fmt: skip
            for pointer in held:
                runtime.freeAsync(pointer, stream.ptr)
            stream.synchronize()
            runtime.memPoolDestroy(pool)


SECTIONS = (_arena, _plain, _half_pages, _cleared, _thresholds, _growing, _release, _reuse, _looks, _caching)
