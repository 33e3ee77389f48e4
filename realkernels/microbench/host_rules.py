"""Rules, not rates: which calls wait for what, how deep queues are, which streams share one, who runs first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import D2H, H2D, Lab

NOTES = {
    "free_behind": "call_s from the launch of a kernel of kernel_s to the end of cudaFree, with and without a "
    "synchronisation in between",
    "waits": "call_s while a kernel of kernel_s runs on another stream; it waits if the two are alike",
    "queue": "launches accepted before a call took longer than 2 ms, and how long that call took",
    "aliases": "streams whose single kernel did not start while two kernels of another stream were running and queued",
    "channels": "how many streams with waiting work it takes to hold up one without",
    "resident": "most kernels of one block that were running at the same time",
    "ended_warps": "alone: all warps of a block but the first end at once",
    "sharing": "two kernels of several waves each, released together; starts of first and last blocks",
}
HELD_S = 4e-3


def _waiting_calls(lab: Lab) -> Iterator[dict]:
    """Each call once with the device idle and once beside a running kernel, on blocking and other streams."""
    own, free = lab.streams(2)
    for stream_kind, stream in (("non_blocking", own), ("blocking", lab.cupy.cuda.Stream())):
        for name, (before, call, after) in _calls(lab, free).items():
            row = {"kind": "waits", "call": name, "kernel_stream": stream_kind, "kernel_s": HELD_S}
            # The first idle call may build something; it is done again.
            for state in ("first_s", "idle_s", "call_s"):
                held = before()
                lab.reset()
                if state == "call_s":
                    lab.kernel(stream, 0, HELD_S)
                begin = time.perf_counter()
                result = call(held)
                row[state] = time.perf_counter() - begin
                lab.runtime.deviceSynchronize()
                after(held if result is None else result)
            yield row


def _calls(lab: Lab, free: Any) -> dict[str, tuple[Callable, Callable, Callable]]:
    """Per name: what comes before, the call (given its result), what comes after (given either's result)."""
    runtime, cupy = lab.runtime, lab.cupy
    event = cupy.cuda.Event(disable_timing=True)
    calls: dict[str, tuple[Callable, Callable, Callable]] = {}
    for size in (MIB, 64 * MIB):
        mib = f"{size // MIB} MiB"
        take_pool = lambda size=size: runtime.mallocAsync(size, free.ptr)  # noqa: E731
        give_pool = lambda pointer: runtime.freeAsync(pointer, free.ptr)  # noqa: E731
        calls[f"malloc {mib}"] = (_none, lambda _, size=size: runtime.malloc(size), runtime.free)
        calls[f"free {mib}"] = (lambda size=size: runtime.malloc(size), runtime.free, _done)
        calls[f"malloc_host {mib}"] = (_none, lambda _, size=size: runtime.hostAlloc(size, 0), runtime.freeHost)
        calls[f"free_host {mib}"] = (lambda size=size: runtime.hostAlloc(size, 0), runtime.freeHost, _done)
        calls[f"malloc_async {mib}"] = (_none, lambda _, take=take_pool: take(), give_pool)
        calls[f"free_async {mib}"] = (take_pool, give_pool, _done)
    plain: dict[str, Callable[[], object]] = {
        "stream_create": lambda: cupy.cuda.Stream(non_blocking=True) and None,
        "event_create": lambda: cupy.cuda.Event() and None,
        "memset": lambda: runtime.memset(lab.device, 0, MIB),
        "memcpy_h2d_pinned 4 KiB": lambda: runtime.memcpy(lab.device, lab.pinned, 4 * KIB, H2D),
        "memcpy_h2d_pageable 4 KiB": lambda: runtime.memcpy(lab.device, lab.pageable, 4 * KIB, H2D),
        "memcpy_h2d_pageable 1 MiB": lambda: runtime.memcpy(lab.device, lab.pageable, MIB, H2D),
        "memcpy_d2h_pinned 4 KiB": lambda: runtime.memcpy(lab.pinned, lab.device, 4 * KIB, D2H),
        "memcpy_async_pinned": lambda: lab.copy(free, H2D, MIB),
        "memcpy_async_legacy_pinned": lambda: runtime.memcpyAsync(lab.device, lab.pinned, MIB, H2D, 0),
        "launch_legacy": lambda: lab.kernel(cupy.cuda.Stream.null, 1, 0.0),
        "stream_sync_other": free.synchronize,
        "event_record_other": lambda: event.record(free),
    }
    for name, call in plain.items():
        calls[name] = (_none, lambda _, call=call: call(), _done)
    return calls


def _frees_behind(lab: Lab) -> Iterator[dict]:
    """Launch and cudaFree, with and without a synchronisation between: when it comes back behind a short kernel."""
    (stream,) = lab.streams(1)
    for size in (256 * KIB, 2 * MIB, 16 * MIB):
        for kernel_s in (10e-6, 100e-6, 1e-3):
            both = {"free": lambda: None, "sync_free": lab.runtime.deviceSynchronize}
            times: dict[str, list[float]] = {name: [] for name in both}
            for _ in range(15):
                for name, between in both.items():
                    pointer = lab.runtime.malloc(size)
                    lab.runtime.deviceSynchronize()
                    begin = time.perf_counter()
                    lab.kernel(stream, 0, kernel_s)
                    between()
                    lab.runtime.free(pointer)
                    times[name].append(time.perf_counter() - begin)
            for name, values in times.items():
                yield {"kind": "free_behind", "call": name, "bytes": size, "kernel_s": kernel_s,
                       "call_s": float(np.median(values))}  # fmt: skip


def _none() -> None:
    return None


def _done(_: object) -> None:
    return None


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _default_stream(lab: Lab) -> Iterator[dict]:
    """A kernel on a stream, then one on a default stream, then one on another stream: who overlaps whom?"""  # noqa: D400
    new = lab.cupy.cuda.Stream
    kinds = {"legacy": lambda: new.null, "per_thread": lambda: new.ptds, "blocking": new,
             "non_blocking": lambda: new(non_blocking=True)}  # fmt: skip
    for middle, make in kinds.items():
        for outer in ("blocking", "non_blocking", "per_thread"):
            streams = [kinds[outer](), make(), kinds[outer]()]
            lab.reset()
            for i, stream in enumerate(streams):
                lab.kernel(stream, i, 300e-6)
            lab.runtime.deviceSynchronize()
            first, _ = lab.stamps(3)
            yield {"kind": "default_stream", "outer": outer, "middle": middle,
                   "starts_s": [round(float(v), 8) for v in first]}  # fmt: skip


def _queue_depth(lab: Lab) -> Iterator[dict]:
    first, second = lab.streams(2)
    event = lab.cupy.cuda.Event(disable_timing=True)
    ways = {
        "launch": lambda _: lab.kernel(first, 0, 0.0),
        "launch on two streams": lambda i: lab.kernel((first, second)[i % 2], 0, 0.0),
        "launch on the other stream": lambda _: lab.kernel(second, 0, 0.0),
        "memcpy_async": lambda _: lab.copy(first, H2D, 4),
        "event_record": lambda _: event.record(first),
    }
    for name, enqueue in ways.items():
        lab.reset()
        lab.kernel(first, 0, 60e-3)
        gate = lab.cupy.cuda.Event(disable_timing=True)
        gate.record(first)
        second.wait_event(gate)
        begin, longest, accepted = time.perf_counter(), 0.0, 0
        while time.perf_counter() - begin < 45e-3 and accepted < 6000:
            longest = _seconds(lambda: enqueue(accepted))  # noqa: B023
            if longest > 2e-3:
                break
            accepted += 1
        lab.runtime.deviceSynchronize()
        yield {"kind": "queue", "what": name, "accepted": accepted, "longest_s": longest, "full": longest > 2e-3}


def connections(lab: Lab, count: int = 48) -> Iterator[dict]:
    """Which of ``count`` streams are held up by the queued second kernel of stream 0?"""  # noqa: D400
    streams = lab.streams(count)
    lab.reset()
    lab.kernel(streams[0], 0, 10e-3)
    lab.kernel(streams[0], count, 10e-6)
    for i, stream in enumerate(streams[1:], start=1):
        lab.kernel(stream, i, 10e-6)
    lab.runtime.deviceSynchronize()
    first, _ = lab.stamps(count + 1)
    waiting = [i for i in range(1, count) if first[i] > first[0] + 9e-3]
    yield {"kind": "aliases", "streams": count, "held_up": waiting}


def _channels(lab: Lab) -> Iterator[dict]:
    """How many streams whose work waits it takes to hold up the work of one more, which waits for nothing."""
    # What is copied is allocated first: that takes longer than the waits here.
    lab.copy(lab.streams(1)[0], H2D, 64 * KIB)
    for waits in ("h2d", "d2h", "kernel for copy", "kernel for kernel", "kernel for its stream"):
        held_up = (count for count in range(1, 20) if _holds_up(lab, waits, count))
        yield {"kind": "channels", "waits": waits, "most": 19, "held_up_by": next(held_up, None)}


def _holds_up(lab: Lab, waits: str, count: int) -> bool:
    *waiting, free, between, holder = [lab.cupy.cuda.Stream(non_blocking=True) for _ in range(count + 3)]
    gate, held = (lab.cupy.cuda.Event(disable_timing=True) for _ in range(2))
    kind = D2H if waits == "d2h" else H2D

    def work(stream: Any, index: int) -> None:
        if not waits.startswith("kernel"):
            lab.copy(stream, kind, 64 * KIB)
        lab.kernel(stream, index, 10e-6)

    lab.reset()
    lab.kernel(holder, 0, 5e-3)
    gate.record(holder)
    if waits == "kernel for copy":
        between.wait_event(gate)
        lab.copy(between, kind, 64 * KIB)
        held.record(between)
    for i, stream in enumerate(waiting):
        if waits == "kernel for its stream":
            lab.kernel(stream, 2 + count, 5e-3)
        else:
            stream.wait_event(held if waits == "kernel for copy" else gate)
        work(stream, 2 + i)
    work(free, 1)
    lab.runtime.deviceSynchronize()
    starts, _ = lab.stamps(2)
    return bool(starts[1] > starts[0] + 4.5e-3)


def _resident(lab: Lab) -> Iterator[dict]:
    for count in (8, 32, 120, 128, 129, 132, 160):
        streams = lab.streams(count)
        with lab.released(streams, 8e-3):
            for i, stream in enumerate(streams):
                lab.kernel(stream, i, 1e-3)
        first, _ = lab.stamps(count)
        starts = np.sort(first)
        at_once = max(int(((starts <= t) & (starts + 1e-3 > t)).sum()) for t in starts)
        yield {"kind": "resident", "kernels": count, "most": at_once, "last_start_s": float(starts[-1]),
               "total_s": float(starts[-1]) + 1e-3, "late": lab.late}  # fmt: skip


def _sharing(lab: Lab) -> Iterator[dict]:
    """Two kernels of four full waves: strictly one after the other, or side by side? With priorities?"""  # noqa: D400
    new = lab.cupy.cuda.Stream
    pairs = {
        "equal": (new(non_blocking=True), new(non_blocking=True)),
        "second higher": (new(non_blocking=True, priority=0), new(non_blocking=True, priority=-5)),
    }
    for name, streams in pairs.items():
        for block, waves in ((1024, 4), (256, 4)):
            grid = waves * lab.sms * (2048 // block)
            outs = [lab.cupy.zeros(2 * grid, dtype=lab.cupy.uint64) for _ in streams]
            lab.runtime.deviceSynchronize()
            if name == "equal":
                with lab.released(streams, 2e-3):
                    for stream, out in zip(streams, outs, strict=True):
                        lab.blocks(stream, out, 100e-6, grid, block)
            else:
                # The second comes when the first is under way.
                lab.blocks(streams[0], outs[0], 100e-6, grid, block)
                time.sleep(150e-6)
                lab.blocks(streams[1], outs[1], 100e-6, grid // waves, block)
                lab.runtime.deviceSynchronize()
            starts = [np.sort(out.get()[::2].astype(np.int64)) for out in outs]
            starts[1] = starts[1][starts[1] > 0]
            zero = min(s[0] for s in starts)
            row = {"kind": "sharing", "priorities": name, "block": block, "waves": waves, "block_s": 100e-6}
            for which, s in zip(("first", "second"), starts, strict=True):
                row[f"{which}_starts_s"] = [
                    round(float(v - zero) * 1e-9, 9) for v in np.quantile(s, (0, 0.25, 0.5, 0.75, 1))
                ]
            yield row


def _ended_warps(lab: Lab) -> Iterator[dict]:
    """A kernel that fills the device, and another while it runs: does it find the room of warps that have ended?"""  # noqa: D400
    for alone in (False, True):
        for grid in (2 * lab.sms, 8 * lab.sms):
            streams = lab.streams(2)
            outs = [lab.cupy.zeros(2 * grid, dtype=lab.cupy.uint64) for _ in streams]
            lab.runtime.deviceSynchronize()
            for stream, out in zip(streams, outs, strict=True):
                lab.blocks(stream, out, 300e-6, grid, 1024, alone=alone)
                time.sleep(100e-6)
            lab.runtime.deviceSynchronize()
            starts = [np.sort(out.get()[::2].astype(np.int64)) for out in outs]
            row: dict[str, Any] = {"kind": "ended_warps", "alone": alone, "grid": grid, "block_s": 300e-6}
            for which, start in zip(("first", "second"), starts, strict=True):
                quantiles = np.quantile(start - starts[0][0], (0, 0.5, 1))
                row[f"{which}_starts_s"] = [round(float(v) * 1e-9, 9) for v in quantiles]
            yield row


SECTIONS = (
    _ended_warps,
    _default_stream,
    _queue_depth,
    connections,
    _channels,
    _resident,
    _sharing,
    _waiting_calls,
    _frees_behind,
)
