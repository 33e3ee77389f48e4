"""Copies, memsets: time by size and direction, two directions at once, pageable staging, beside kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from realkernels.microbench import host_beside
from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import D2D, D2H, H2D, Lab, spread

NOTES = {
    "seconds": "one copy or memset of the row, from the slope between a short and a long row (device time only)",
    "alone_s / together_s": "a row of copies each way between two stamps, alone and with the other direction running",
    "copy_beside": "a copy within the device and a kernel, first_s and second_s from a common start to the end of each",
    "behind": "first_s and last_s: a kernel that waits for what comes before the copy, its first and last block; "
    "end_s: the kernel behind the copy; all from the end of what comes before",
    "call_s": "the host is inside the call; total_s: until a synchronisation behind it has returned",
}
GIB = 1024 * MIB
NAMES = {H2D: "h2d", D2H: "d2h", D2D: "d2d"}
SIZES = (
    4,
    512,
    4 * KIB,
    16 * KIB,
    64 * KIB,
    128 * KIB,
    256 * KIB,
    512 * KIB,
    MIB,
    2 * MIB,
    4 * MIB,
    16 * MIB,
    64 * MIB,
    256 * MIB,
)
KERNEL_S = 5e-6


def _sizes(lab: Lab) -> Iterator[dict]:
    for kind in (H2D, D2H, D2D):
        for size in SIZES:
            yield _size(lab, NAMES[kind], size, partial(lab.copy, lab.streams(1)[0], kind, size))


def _memset_sizes(lab: Lab) -> Iterator[dict]:
    """Up to 1 GiB, for which there is no room in the scratch memory that copies use."""
    (stream,) = lab.streams(1)
    target = lab.runtime.malloc(GIB)
    try:
        for size in (*SIZES, GIB):
            yield _size(lab, "memset", size, partial(lab.runtime.memsetAsync, target, 0, size, stream.ptr))
    finally:
        lab.runtime.free(target)


def _both_directions(lab: Lab) -> Iterator[dict]:
    for size in (64 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB):
        yield _duplex(lab, size, size)
    yield _duplex(lab, 64 * MIB, MIB)
    yield _duplex(lab, MIB, 64 * MIB)
    for streams in (1, 2, 4):
        for kind in (H2D, D2H):
            yield _same_direction(lab, kind, streams)


def _row(lab: Lab, copy: Callable[[], object], count: int) -> float:
    """Seconds between two kernels of the first stream with ``count`` times ``copy`` between them."""
    (stream,) = lab.streams(1)
    with lab.released([stream], 1e-3 + 15e-6 * count):
        lab.kernel(stream, 0, KERNEL_S)
        for _ in range(count):
            copy()
        lab.kernel(stream, 1, KERNEL_S)
    first, last = lab.stamps(2)
    return float(first[1] - last[0]) - KERNEL_S


def _size(lab: Lab, name: str, size: int, copy: Callable[[], object]) -> dict:
    short, long = (1, 17) if size <= MIB else (1, 5) if size <= 16 * MIB else (1, 3)
    repeats = 5 if size <= 16 * MIB else 3
    _row(lab, copy, 1)
    one = [_row(lab, copy, short) for _ in range(repeats)]
    many = [_row(lab, copy, long) for _ in range(repeats)]
    slope = [(m - float(np.median(one))) / (long - short) for m in many]
    return {"kind": "size", "direction": name, "bytes": size, "seconds": float(np.median(slope)),
            "p10_s": float(min(slope)), "p90_s": float(max(slope)), "single_s": float(np.median(one)),
            "late": lab.late}  # fmt: skip


def _pair(lab: Lab, work: dict[int, tuple[int, int]]) -> dict[int, float]:
    """Seconds per direction for rows {kind: (size, count)} released together."""
    streams = dict(zip(work, lab.streams(len(work)), strict=True))
    total = sum(count for _, count in work.values())
    with lab.released(list(streams.values()), 1e-3 + 15e-6 * total):
        for i, kind in enumerate(work):
            lab.kernel(streams[kind], 2 * i, KERNEL_S)
        for kind, (size, count) in work.items():
            for _ in range(count):
                lab.copy(streams[kind], kind, size)
        for i, kind in enumerate(work):
            lab.kernel(streams[kind], 2 * i + 1, KERNEL_S)
    first, last = lab.stamps(2 * len(work))
    return {kind: float(first[2 * i + 1] - last[2 * i]) - KERNEL_S for i, kind in enumerate(work)}


def _duplex(lab: Lab, in_size: int, out_size: int) -> dict:
    """Equal bytes both ways; with unequal sizes, many small copies beside few large ones."""
    total = max(in_size, out_size) * (4 if max(in_size, out_size) >= 16 * MIB else 16)
    work = {H2D: (in_size, total // in_size), D2H: (out_size, total // out_size)}
    alone = {kind: np.median([_pair(lab, {kind: work[kind]})[kind] for _ in range(3)]) for kind in work}
    both = [_pair(lab, work) for _ in range(5)]
    row = {"kind": "duplex", "h2d_bytes": in_size, "d2h_bytes": out_size, "total_bytes": total}
    for kind in work:
        row[f"{NAMES[kind]}_alone_s"] = float(alone[kind])
        row[f"{NAMES[kind]}_together_s"] = float(np.median([each[kind] for each in both]))
        row[f"{NAMES[kind]}_together_max_s"] = float(max(each[kind] for each in both))
    return row


def _same_direction(lab: Lab, kind: int, count: int) -> dict:
    """64 MiB in 4 MiB copies of one direction, dealt over several streams."""
    streams, size, copies = lab.streams(count), 4 * MIB, 16
    samples = []
    for _ in range(3):
        with lab.released(streams, 2e-3):
            for i, stream in enumerate(streams):
                lab.kernel(stream, i, KERNEL_S)
            for i in range(copies):
                lab.copy(streams[i % count], kind, size)
            for i, stream in enumerate(streams):
                lab.kernel(stream, count + i, KERNEL_S)
        first, last = lab.stamps(2 * count)
        samples.append(first[count:].max() - last[:count].min() - KERNEL_S)
    return {
        "kind": "same_direction",
        "direction": NAMES[kind],
        "streams": count,
        "bytes": size * copies,
        **spread(samples),
    }


def _behind(lab: Lab) -> Iterator[dict]:
    """When a kernel of another stream starts that could start right behind the beginning of a copy or memset."""
    main, other = lab.streams(2)
    for way in ("d2d", "memset"):
        for size in (16 * MIB, 64 * MIB, 128 * MIB, 256 * MIB):
            for grid, block in ((1, 32), (66, 1024), (132, 1024)):
                rows = []
                for _ in range(5):
                    go = lab.cupy.cuda.Event(disable_timing=True)
                    with lab.released([main, other], 2e-3):
                        lab.kernel(main, 0, KERNEL_S)
                        go.record(main)
                        if way == "d2d":
                            lab.copy(main, D2D, size)
                        else:
                            lab.runtime.memsetAsync(lab.device, 0, size, main.ptr)
                        lab.kernel(main, 1, KERNEL_S)
                        other.wait_event(go)
                        lab.kernel(other, 2, KERNEL_S, grid, block)
                    first, last = lab.stamps(3)
                    begin = last[0] + KERNEL_S
                    rows.append((first[2] - begin, last[2] - begin, first[1] - begin))
                first_s, last_s, end_s = np.median(rows, axis=0)
                yield {"kind": "behind", "way": way, "bytes": size, "grid": grid, "block": block,
                       "first_s": float(first_s), "last_s": float(last_s), "end_s": float(end_s)}  # fmt: skip


def _pageable(lab: Lab) -> Iterator[dict]:
    """Asynchronous copies of ordinary memory on an idle device: how long the host is held, and the whole."""
    (stream,) = lab.streams(1)
    for kind in (H2D, D2H):
        for size in (4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB):
            calls, totals = [], []
            for i in range(7 if size <= 16 * MIB else 4):
                begin = time.perf_counter()
                lab.copy(stream, kind, size, "pageable")
                middle = time.perf_counter()
                stream.synchronize()
                if i:
                    calls.append(middle - begin)
                    totals.append(time.perf_counter() - begin)
            yield {"kind": "pageable", "direction": NAMES[kind], "bytes": size, "call_s": float(np.median(calls)),
                   "total_s": float(np.median(totals)), "total_max_s": float(max(totals))}  # fmt: skip


def _pageable_chunks(lab: Lab) -> Iterator[dict]:
    """A large array of ordinary memory copied chunk by chunk, again and again: what the host's caches hold of it."""
    (stream,) = lab.streams(1)
    for kind in (H2D, D2H):
        for whole in (MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, 256 * MIB):
            for size in (32 * KIB, 256 * KIB, MIB, 8 * MIB):
                if size > whole:
                    continue
                starts = range(0, whole, size)
                if len(starts) > 256:
                    starts = starts[:: len(starts) // 256]
                times = []
                for again in range(2 if whole > 64 * MIB else 4):
                    for start in starts:
                        device, host = lab.device + start, lab.pageable + start
                        ends = (device, host) if kind == H2D else (host, device)
                        begin = time.perf_counter()
                        lab.runtime.memcpyAsync(*ends, size, kind, stream.ptr)
                        if again:
                            times.append(time.perf_counter() - begin)
                        stream.synchronize()
                yield {
                    "kind": "pageable_chunks",
                    "direction": NAMES[kind],
                    "bytes": size,
                    "whole": whole,
                    **spread(times),
                }


def _pageable_overlap(lab: Lab) -> Iterator[dict]:
    """Does a pageable copy wait, with the host inside the call, for earlier work of its own or another stream?"""  # noqa: D400
    own, other = lab.streams(2)
    for kind in (H2D, D2H):
        for size in (4 * KIB, 64 * KIB, 64 * KIB + 4, MIB, 16 * MIB):
            for where, busy in (("own", own), ("other", other)):
                lab.reset()
                lab.kernel(busy, 0, 5e-3)
                begin = time.perf_counter()
                lab.copy(own, kind, size, "pageable")
                call = time.perf_counter() - begin
                lab.runtime.deviceSynchronize()
                yield {"kind": "pageable_behind_kernel", "direction": NAMES[kind], "bytes": size, "kernel_on": where,
                       "kernel_s": 5e-3, "call_s": call, "total_s": time.perf_counter() - begin}  # fmt: skip


def _order(lab: Lab) -> Iterator[dict]:
    """Copies of one direction on two streams, released together: does one finish first, or do they share?"""  # noqa: D400
    first, second = lab.streams(2)
    for kind in (H2D, D2H):
        for size, count in ((16 * MIB, 1), (4 * MIB, 4), (64 * KIB, 16)):
            with lab.released((first, second), 2e-3):
                for i, stream in enumerate((first, second)):
                    lab.kernel(stream, i, KERNEL_S)
                for stream in (first, second):
                    for _ in range(count):
                        lab.copy(stream, kind, size)
                for i, stream in enumerate((first, second)):
                    lab.kernel(stream, 2 + i, KERNEL_S)
            starts, _ = lab.stamps(4)
            yield {"kind": "order", "direction": NAMES[kind], "bytes": size, "count": count,
                   "ends_s": [round(float(v - starts[:2].max() - KERNEL_S), 9) for v in starts[2:]]}  # fmt: skip
    # Both ways at once, dealt over two streams as a pipeline does it: in, out, in, out.
    for size in (1 * MIB, 16 * MIB):
        with lab.released((first, second), 2e-3):
            for i, stream in enumerate((first, second)):
                lab.kernel(stream, i, KERNEL_S)
            for _ in range(4):
                for stream in (first, second):
                    lab.copy(stream, H2D, size)
                    lab.copy(stream, D2H, size)
            for i, stream in enumerate((first, second)):
                lab.kernel(stream, 2 + i, KERNEL_S)
        starts, _ = lab.stamps(4)
        yield {"kind": "order", "direction": "both", "bytes": size, "count": 8,
               "ends_s": [round(float(v - starts[:2].max() - KERNEL_S), 9) for v in starts[2:]]}  # fmt: skip


SECTIONS = (
    _sizes, _memset_sizes, _both_directions, _behind, _order, _pageable, _pageable_chunks, _pageable_overlap,
    *host_beside.SECTIONS,
)  # fmt: skip
