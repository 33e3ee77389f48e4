"""Copy engines that serve several streams, each of which waits for the other engine before every copy.

Everything is queued before any of it runs. ``period_s`` is the time per copy and direction, so what it
exceeds a copy's own time by is lost between copies. Traced runs (CUPTI) say where: ``late`` rows hold the
time from when a piece of work could have started to when it did, ``engine`` if its engine was busy until
then, ``dependency`` if what it waited for was.
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
    "period_s": "from the end of the first to the start of the last stamped kernel, over the copies of one direction",
}
KERNEL_S = 5e-6
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


SECTIONS = (_periods, _late)
