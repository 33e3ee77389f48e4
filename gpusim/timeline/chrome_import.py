"""Timelines out of Chrome JSON: what `gpusim.timeline.export` writes, and what profilers of CUDA programs do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gpusim.errors import RecordingError, listing
from gpusim.timeline.activities import MOST_RECORDS, Activity, from_activities
from gpusim.timeline.proton_import import from_proton, is_proton
from gpusim.timeline.timeline import Timeline, TimelineBuilder
from gpusim.timeline.vocabulary import KINDS, REASONS

__all__ = ["from_chrome_json"]

_CUDA = {
    "kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "copy", "cuda_runtime": "call", "cuda_driver": "call",
}  # fmt: skip
"""Categories of the PyTorch profiler (Kineto)."""
_WAYS = {"HtoD": "h2d", "DtoH": "d2h", "DtoD": "d2d", "PtoP": "p2p"}
_MICRO = 1e-6
"""Seconds of the unit of ``ts`` and ``dur``."""
_ENDLESS_US = 1e17
"""A few thousand years: no clock counts further."""


def from_chrome_json(content: bytes, clock_hz: float | None = None) -> dict[str, Timeline]:
    """Timelines by the name of their process; of a profiler's trace one, called "trace", of Proton's one per kernel.

    Only complete events (``"ph": "X"``) are read, times are µs. A profiler's kernels, copies and calls come on the
    lanes of `from_activities`. Everything else is one lane per thread, and ``cat`` is the kind of an interval; what is
    of no kind that is known is left out, and ``meta["skipped"]`` says how much.
    ``clock_hz``, of the SMs, is what a trace of Proton takes (`from_proton`).
    Raises RecordingError where it is no such file, an event cannot be read, or none is of a known category.
    """
    data = _loaded(content)
    events = data if isinstance(data, list) else data.get("traceEvents")
    if not isinstance(events, list):
        raise RecordingError('is JSON, but no trace: expected an object with a list "traceEvents", or such a list')
    if len(events) > MOST_RECORDS:
        raise RecordingError(f"holds {len(events):,} events, at most {MOST_RECORDS:,} are read; trace a shorter run")
    complete = list(_complete(events))
    first_us = min((event["ts"] for event in complete), default=0.0)
    if any(_is_cuda(event) for event in complete):
        device = _device(data)
        timeline = from_activities(_activity(event, first_us) for event in complete if event.get("cat") in _CUDA)
        return {"trace": timeline.with_meta(**({"device": device} if device else {}))}
    if any(map(is_proton, complete)):
        return from_proton(complete, clock_hz)
    said = data.get("otherData") if isinstance(data, dict) else None
    # Time 0 of what gpusim wrote is the start of the kernel, of anything else any time.
    ours = isinstance(said, dict) and bool(said)
    return _by_process(complete, _names(events), said if ours else {}, 0.0 if ours else first_us)


def _loaded(content: bytes) -> Any:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"truncated or not JSON ({error})") from error
    if not isinstance(data, dict | list):
        raise RecordingError('is JSON, but no trace: expected an object with a list "traceEvents", or such a list')
    return data


def _complete(events: list[Any]) -> Iterator[Mapping[str, Any]]:
    """Complete events with checked times."""
    for number, event in enumerate(events):
        if not isinstance(event, dict):
            raise RecordingError(f"traceEvents[{number}] is no object")
        if event.get("ph") != "X":
            continue
        for name in ("ts", "dur"):
            value = event.get(name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _ENDLESS_US:
                raise RecordingError(f"traceEvents[{number}].{name} is {repr(value)[:60]}, expected a number of µs")
        if event["dur"] < 0:
            raise RecordingError(f"traceEvents[{number}].dur is {event['dur']!r}, expected no less than 0 µs")
        if not isinstance(event.get("args", {}), dict):
            raise RecordingError(f"traceEvents[{number}].args is no object")
        if not isinstance(event.get("cat", ""), str):
            raise RecordingError(f"traceEvents[{number}].cat is {repr(event['cat'])[:60]}, expected a word")
        yield event


def _is_cuda(event: Mapping[str, Any]) -> bool:
    """Whether a profiler of CUDA programs wrote it: gpusim calls kernels the same, and tells no stream."""
    return event.get("cat") in _CUDA and "stream" in event.get("args", {})


def _activity(event: Mapping[str, Any], first_us: float) -> Activity:
    args, what, name = event.get("args", {}), _CUDA[event["cat"]], str(event.get("name", ""))
    start = (event["ts"] - first_us) * _MICRO
    way = next((short for word, short in _WAYS.items() if word in name), "other")
    return Activity(
        what, start, start + event["dur"] * _MICRO, _whole(args.get("device")),  # type: ignore[arg-type]
        _whole(args.get("stream") if what != "call" else event.get("tid")), name,
        "d2d" if event["cat"] == "gpu_memset" else way, _whole(args.get("bytes")),
    )  # fmt: skip


def _device(data: Any) -> str:
    """What the driver calls the device, where the profiler says it."""
    told = data.get("deviceProperties") if isinstance(data, dict) else None
    first = told[0] if isinstance(told, list) and told else None
    return str(first.get("name") or "") if isinstance(first, dict) else ""


def _names(events: list[Any]) -> dict[tuple[Any, ...], str]:
    """Names of processes by (pid,) and of threads by (pid, tid)."""
    names: dict[tuple[Any, ...], str] = {}
    for event in events:
        args = event.get("args")
        if event.get("ph") == "M" and isinstance(args, dict) and "name" in args:
            if event.get("name") == "process_name":
                names[str(event.get("pid")),] = str(args["name"])
            elif event.get("name") == "thread_name":
                names[str(event.get("pid")), str(event.get("tid"))] = str(args["name"])
    return names


def _by_process(
    events: list[Mapping[str, Any]], names: Mapping[tuple[Any, ...], str], said: Mapping[str, Any], first_us: float
) -> dict[str, Timeline]:
    """One timeline per process; ``said`` is what gpusim tells of each, if it wrote the file."""
    builders: dict[str, TimelineBuilder] = {}
    skipped: dict[str, int] = {}
    for event in events:
        process, thread = str(event.get("pid")), str(event.get("tid"))
        name = names.get((process,), process)
        kind, args = event.get("cat"), event.get("args", {})
        if kind not in KINDS:
            skipped[name] = skipped.get(name, 0) + 1
            continue
        lane = names.get((process, thread), f"thread[{thread}]")
        start = (event["ts"] - first_us) * _MICRO
        reason = args.get("reason", "")
        builders.setdefault(name, TimelineBuilder()).add(
            _lane(lane) if said else lane, kind, start, start + event["dur"] * _MICRO,
            reason if reason in REASONS else "", _whole(args.get("tile"), -1), _whole(args.get("stage"), -1),
            _whole(args.get("bytes")),
        )  # fmt: skip
    if not builders:
        seen = listing(sorted({str(event.get("cat")) for event in events})) or "no complete event"
        known = listing([*_CUDA, *(kind for kind in KINDS if kind not in _CUDA)], 40)
        raise RecordingError(f'no event in it is of a known category (it has {seen}; allowed as "cat": {known})')
    return {name: _built(builder, said.get(name), skipped.get(name, 0)) for name, builder in builders.items()}


def _built(builder: TimelineBuilder, said: Any, skipped: int) -> Timeline:
    meta = {name: said[name] for name in ("source", "total_s") if name in said} if isinstance(said, dict) else {}
    timeline = builder.build(**({"source": "measured"} | meta))
    if "total_s" not in meta:
        timeline = timeline.with_meta(total_s=timeline.span_s[1])
    return timeline.with_meta(skipped=skipped) if skipped else timeline


def _lane(thread: str) -> str:
    """The lane of a thread that gpusim wrote: without its name, and without the number of a track."""
    return thread.partition(" ")[0]


def _whole(value: Any, otherwise: int = 0) -> int:
    """A whole number, or something else where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else otherwise
