"""Copy engines that serve several streams, each of which waits for the other engine before every copy.

Everything is queued before any of it runs. ``period_s`` is the time per copy and direction, so what it
exceeds a copy's own time by is lost between copies. Traced runs (CUPTI) say where: ``late`` rows hold the
time from when a piece of work could have started to when it did, ``engine`` if its engine was busy until
then, ``dependency`` if what it waited for was. ``waiting`` rows have one stream of kernels and copies that
pass it on to each other, beside others that do nothing but wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from realkernels._harness import cupti_trace
from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import D2H, H2D, Lab, spread

NOTES = {
    "both": "each stream: in, out, in, out; in_kernel, out_kernel: a copy, a short kernel; all: in, kernel, out",
    "lost_s": "mean of kernel start to kernel start, less kernel and copy: two hand-overs",
    "period_s": "from the end of the first to the start of the last stamped kernel, over the copies of one direction",
}
KERNEL_S = 5e-6
LINK_BYTES_PER_S = 55e9
STREAMS = (1, 2, 3, 4, 8)
SIZES = (64 * KIB, 256 * KIB, MIB, 4 * MIB)
PATTERNS = {"both": "io", "in_kernel": "ik", "out_kernel": "ok", "all": "iko"}
NAMES = {1: "h2d", 2: "d2h"}


def _queue(lab: Lab, streams: list[Any], pattern: str, size: int, rounds: int) -> None:
    count = len(streams)
    with lab.released(streams, 1e-3 + 22e-6 * count * rounds):
        for i, stream in enumerate(streams):
            lab.kernel(stream, i, KERNEL_S)
        for _ in range(rounds):
            for i, stream in enumerate(streams):
                for step in PATTERNS[pattern]:
                    if step == "k":
                        lab.kernel(stream, 2 * count + i, KERNEL_S)
                    else:
                        lab.copy(stream, H2D if step == "i" else D2H, size)
        for i, stream in enumerate(streams):
            lab.kernel(stream, count + i, KERNEL_S)


def _periods(lab: Lab) -> Iterator[dict]:
    for pattern in PATTERNS:
        for size in SIZES:
            for count in STREAMS:
                streams, rounds = lab.streams(count), max(6, 48 // count)
                samples = []
                for _ in range(3):
                    _queue(lab, streams, pattern, size, rounds)
                    first, last = lab.stamps(2 * count)
                    samples.append((first[count:].max() - last[:count].min() - KERNEL_S) / (rounds * count))
                yield {"kind": "period", "pattern": pattern, "bytes": size, "streams": count, "rounds": rounds,
                       "period_s": float(np.median(samples)), "late": lab.late}  # fmt: skip


def _late(lab: Lab) -> Iterator[dict]:
    ok, reason = cupti_trace.available()
    if not ok:
        yield {"skipped": reason}
        return
    for size in (256 * KIB, 4 * MIB):
        for count in STREAMS:
            streams, rounds = lab.streams(count), max(6, 48 // count)

            def run(streams=streams, size=size, rounds=rounds) -> float:
                _queue(lab, streams, "all", size, rounds)
                return 0.0

            run()
            _, records = cupti_trace.trace(run)
            for (engine, limit), values in sorted(_lateness(records).items()):
                row = {
                    "kind": "late",
                    "bytes": size,
                    "streams": count,
                    "engine": engine,
                    "limit": limit,
                    **spread(values),
                }
                channels = {
                    r.get("channel_id") for r in records if NAMES.get(r.get("copy_kind", 0), "kernel") == engine
                }
                yield {**row, "least_s": float(min(values)), "most_s": float(max(values)), "channels": len(channels)}


def _lateness(records: list[dict]) -> dict[tuple[str, str], list[float]]:
    work = sorted((r for r in records if r["kind"] in ("CONCURRENT_KERNEL", "MEMCPY")), key=lambda r: r["start"])
    by_stream: dict[int, dict] = {}
    by_engine: dict[str, dict] = {}
    found: dict[tuple[str, str], list[float]] = {}
    for record in work:
        engine = NAMES.get(record.get("copy_kind", 0), "kernel")
        before, ahead = by_stream.get(record["stream_id"]), by_engine.get(engine)
        if before is not None and ahead is not None:
            limit = "engine" if ahead["end"] > before["end"] and engine != "kernel" else "dependency"
            since = max(before["end"], ahead["end"]) if limit == "engine" else before["end"]
            found.setdefault((engine, limit), []).append((record["start"] - since) * 1e-9)
        by_stream[record["stream_id"]] = by_engine[engine] = record
    return found


def _waiting(lab: Lab) -> Iterator[dict]:
    """What a hand-over loses beside other streams whose work waits for an engine, too, and in the same queue."""
    steps = tuple((5e-6 + 1e-6 * (5 * i % 7), 16 * KIB * (1 + 7 * i % 20)) for i in range(60))
    for queue, most in (("compute", 6), ("h2d", 3), ("d2h", 3)):
        streams = [lab.cupy.cuda.Stream(non_blocking=True) for _ in range(3 + most)]
        for count in range(most + 1):
            for direction in (H2D, D2H):
                lost = [_lost(lab, streams[: 3 + count], queue, direction, steps) for _ in range(4)]
                yield {"kind": "waiting", "queue": queue, "direction": NAMES[direction], "others": count,
                       "lost_s": float(np.mean(lost[1:])), "late": lab.late}  # fmt: skip


def _lost(lab: Lab, streams: list[Any], queue: str, direction: int, steps: tuple[tuple[float, int], ...]) -> float:
    mine, holder, first, *others = streams
    gate, held = (lab.cupy.cuda.Event(disable_timing=True) for _ in range(2))
    with lab.released([mine], 3e-3):
        lab.kernel(holder, len(steps) + 1, 15e-3)
        gate.record(holder)
        if queue == "compute":
            first.wait_event(gate)
            lab.copy(first, D2H if direction == H2D else H2D, 64 * KIB)
            held.record(first)
        for i, other in enumerate(others):
            other.wait_event(held if queue == "compute" else gate)
            if queue == "compute":
                lab.kernel(other, len(steps) + 2 + i, 0.0)
            else:
                lab.copy(other, H2D if queue == "h2d" else D2H, 64 * KIB)
        for i, (seconds, size) in enumerate(steps):
            lab.kernel(mine, i, seconds)
            lab.copy(mine, direction, size)
        lab.kernel(mine, len(steps), 0.0)
    starts, _ = lab.stamps(len(steps) + 1)
    own = [seconds + size / LINK_BYTES_PER_S for seconds, size in steps]
    return float(np.mean(np.diff(starts) - own))


SECTIONS = (_periods, _late, _waiting)
