"""From a call to the start on the device, and from the end on the device to the return of a wait.

Host and device times are on one clock only in CUPTI's records; tracing lengthens the calls, so only
the differences that do not contain a call are used from here: end of the launching call to the start
of the kernel, end of the kernel to the end of the waiting call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from realkernels._harness import cupti_trace
from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import D2H, H2D, Lab, spread

NOTES = {
    "start_after_call": "start of the work on the device minus the start (and the end) of the call that enqueued it",
    "return_after_end": "end of the waiting call minus the end of the work on the device",
    "duration": "the work itself as the activity record has it",
}
REPEATS = 25


def _latencies(lab: Lab) -> Iterator[dict]:
    ok, reason = cupti_trace.available()
    if not ok:
        yield {"skipped": reason}
        return
    yield {"cupti": reason}
    (stream,) = lab.streams(1)
    device = lab.runtime.deviceSynchronize
    work: dict[str, Callable[[], object]] = {
        "kernel_0": lambda: lab.kernel(stream, 0, 0.0),
        "kernel_100us": lambda: lab.kernel(stream, 0, 100e-6),
        "kernel_100us_full": lambda: lab.kernel(stream, 0, 100e-6, 264, 1024),
        "h2d_4": lambda: lab.copy(stream, H2D, 4),
        "h2d_64k": lambda: lab.copy(stream, H2D, 64 * KIB),
        "h2d_16m": lambda: lab.copy(stream, H2D, 16 * MIB),
        "d2h_4": lambda: lab.copy(stream, D2H, 4),
        "d2h_64k": lambda: lab.copy(stream, D2H, 64 * KIB),
        "d2h_16m": lambda: lab.copy(stream, D2H, 16 * MIB),
    }
    for name, enqueue in work.items():
        for wait_name, wait in (("stream_sync", stream.synchronize), ("device_sync", device)):
            yield {"kind": "round_trip", "work": name, "wait": wait_name, **_traced(enqueue, wait)}
    _, records = cupti_trace.trace(lambda: _pageable(lab, stream))
    yield {
        "kind": "pageable_records",
        "records": [_short(r) for r in records if r["kind"] in ("MEMCPY", "RUNTIME")][:120],
    }


def _pageable(lab: Lab, stream: Any) -> float:
    """How the driver cuts ordinary memory into pieces: visible as copies of one correlation id."""
    for kind in (H2D, D2H):
        for size in (64 * KIB, MIB, 16 * MIB):
            lab.copy(stream, kind, size, "pageable")
            stream.synchronize()
    return 0.0


def _traced(enqueue: Callable[[], object], wait: Callable[[], object]) -> dict:
    def rounds() -> float:
        for _ in range(REPEATS):
            enqueue()
            wait()
        return 0.0

    rounds()
    _, records = cupti_trace.trace(rounds)
    done = [r for r in records if r["kind"] in ("CONCURRENT_KERNEL", "MEMCPY")]
    # A runtime call and the driver call inside it share an id: the outer one, which starts first, counts.
    calls: dict[int, dict] = {}
    for record in records:
        if record["kind"] in ("RUNTIME", "DRIVER"):
            calls.setdefault(record["correlation_id"], record)
    waits = [r for r in records if r["kind"] in ("RUNTIME", "DRIVER") and "ynchronize" in r["name"]]
    from_start, from_end, returned, durations = [], [], [], []
    for record in done:
        call = calls.get(record["correlation_id"])
        if call is not None:
            from_start.append(record["start"] - call["start"])
            from_end.append(record["start"] - call["end"])
        after = [w["end"] for w in waits if w["end"] >= record["end"] and w["start"] <= record["end"]]
        if after:
            returned.append(max(after) - record["end"])
        durations.append(record["end"] - record["start"])
    row: dict[str, Any] = {"records": len(done)}
    columns = {"start_after_call_start": from_start, "start_after_call_end": from_end,
               "return_after_end": returned, "duration": durations}  # fmt: skip
    for name, values in columns.items():
        if values:
            row.update({f"{name}_{key}": value for key, value in spread(np.array(values) * 1e-9).items()})
    return row


def _short(record: dict) -> dict:
    keep = (
        "kind",
        "name",
        "start",
        "end",
        "bytes",
        "copy_kind",
        "correlation_id",
        "src_kind",
        "dst_kind",
        "channel_id",
    )
    return {key: record[key] for key in keep if key in record}


SECTIONS = (_latencies,)
