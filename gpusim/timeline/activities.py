"""Records of a tracer, such as Nsight Systems or the PyTorch profiler, on the lanes of a host program."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from gpusim.errors import RecordingError
from gpusim.timeline.timeline import Timeline, TimelineBuilder
from gpusim.timeline.vocabulary import Kind, Reason

__all__ = ["MOST_RECORDS", "Activity", "from_activities"]

MOST_RECORDS = 2_000_000
"""Of one kind in a trace; a longer one is asked for in a shorter run."""


@dataclass(frozen=True, slots=True)
class Activity:
    """A kernel, a copy or a call, in seconds of the tracer's clock.

    ``place`` is the number of the stream, or for a call of the thread, as the tracer has it. ``engine`` is the
    direction of a copy: "h2d", "d2h", "d2d", "p2p" or "other".
    """

    what: Literal["kernel", "copy", "call"]
    start_s: float
    end_s: float
    device: int = 0
    place: int = 0
    name: str = ""
    engine: str = "other"
    bytes: int = 0


def from_activities(activities: Iterable[Activity]) -> Timeline:
    """Lanes ``host[i]``, ``stream[i]`` and ``copy_engine[…]``, below ``gpu[d]`` where there are several devices.

    Threads and streams are numbered in the order of their first use, as in predictions; time 0 is the first record.
    The run time (``total_s``) is that from the first to the last record. A call inside another one is left out.
    Raises RecordingError for a record that ends before it starts.
    """
    found = sorted(activities, key=lambda one: (one.start_s, one.end_s))
    if not found:
        return TimelineBuilder().build(source="measured", total_s=0.0)
    zero = found[0].start_s
    several = len({one.device for one in found if one.what != "call"}) > 1
    builder, number, busy = TimelineBuilder(), _Numbers(), dict[str, float]()
    for one in found:
        start, end = one.start_s - zero, one.end_s - zero
        if end < start:
            told = f"{one.what} {one.name}".strip()
            raise RecordingError(f"{told} at {one.start_s:.9f} s ends before it starts")
        if one.what == "call":
            lane = f"host[{number('host', one.place)}]"
            if start < busy.get(lane, 0.0):
                continue
            busy[lane] = end
            kind, reason = _call_kind(one.name)
            builder.add(lane, kind, start, end, reason)
            continue
        below = f"gpu[{number('gpu', one.device)}]." if several else ""
        builder.add(
            f"{below}stream[{number('stream', (one.device, one.place))}]", one.what, start, end, bytes=one.bytes
        )
        if one.what == "copy":
            builder.add(f"{below}copy_engine[{one.engine}]", "transfer", start, end, bytes=one.bytes)
    return builder.build(source="measured", total_s=max(one.end_s for one in found) - zero)


class _Numbers:
    """Small numbers for what a tracer counts in its own way, per kind of thing."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[Hashable, int]] = {}

    def __call__(self, kind: str, of: Hashable) -> int:
        seen = self._seen.setdefault(kind, {})
        return seen.setdefault(of, len(seen))


def _call_kind(name: str) -> tuple[Kind, Reason]:
    """What a thread does during a call of CUDA."""
    if "Synchronize" in name:
        return "wait", "host_sync"
    if "Launch" in name:
        return "launch", ""
    if any(word in name for word in ("Malloc", "Free", "HostAlloc", "MemAlloc", "MemHost")):
        return "alloc", ""
    return "issue", ""
