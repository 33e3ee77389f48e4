"""Records of a traced run as a `Timeline`: streams, copy engines and host threads on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpusim.program import host as ops
from gpusim.timeline import Timeline, TimelineBuilder
from realkernels._harness.host_run import calls_before

__all__ = ["from_events", "from_records"]

_ENGINE = {1: "h2d", 2: "d2h", 8: "d2d", 10: "p2p"}
"""CUpti_ActivityMemcpyKind."""
_DEVICE_KINDS = ("CONCURRENT_KERNEL", "KERNEL", "MEMCPY", "MEMCPY2", "MEMSET")
_CALLS = {
    "launch": ("Launch",), "alloc": ("Malloc", "Free", "HostAlloc", "MemAlloc", "MemFree", "MemHost"),
}  # fmt: skip
_WAITS = ("Synchronize",)


def issued_work(program: ops.HostProgram) -> list[list[Any]]:
    """What each call starts (kernels, copies, memsets) in the order of issue; a graph starts all of its own."""
    calls = []
    for thread in program.threads:
        for op in thread.ops:
            inside = program.graph(op.graph).ops if isinstance(op, ops.GraphLaunch) else (op,)
            work = [o for o in inside if isinstance(o, ops.MemcpyAsync | ops.MemsetAsync | ops.Memcpy | ops.Launch)]
            if work:
                calls.append(work)
    return calls


def from_records(program: ops.HostProgram, traced: Mapping[str, Any], meta: Mapping[str, Any]) -> Timeline:
    """CUPTI records on lanes ``host[i]``, ``stream[i]`` and ``copy_engine[…]``; time 0 is the first call.

    Those of several devices are below ``gpu[d]``.

    Work is matched with the program's ops by order of issue, which CUPTI's correlation ids follow. Where
    the numbers do not agree (several threads, unknown kinds) streams are numbered as they appear.
    """
    records = traced["records"]
    work = [r for r in records if r["kind"] in _DEVICE_KINDS]
    calls = [r for r in records if r["kind"] == "RUNTIME"] or [r for r in records if r["kind"] == "DRIVER"]
    if program.devices > 1:
        calls = sorted(calls, key=lambda r: r["start"])[calls_before(program.devices) :]
    zero = min(r["start"] for r in (calls or work))
    chunks, lanes = _match(program, work)
    builder = TimelineBuilder()
    for thread, own in _by_thread(calls + _bare_driver_calls(records)).items():
        free_ns = zero
        for record in sorted(own, key=lambda r: r["start"]):
            if record["start"] < free_ns:
                continue  # a call made inside another one
            free_ns = record["end"]
            kind, reason = _call_kind(record["name"])
            builder.add(f"host[{thread}]", kind, _s(record["start"], zero), _s(record["end"], zero), reason)
    for i, record in enumerate(work):
        start, end = _s(record["start"], zero), _s(record["end"], zero)
        # A memset is drawn as a copy within the device, as in predictions.
        copy = record["kind"].startswith(("MEMCPY", "MEMSET"))
        size = record.get("bytes", 0) if copy else 0
        builder.add(lanes[i], "copy" if copy else "kernel", start, end, "", chunks[i], -1, size)
        if copy:
            engine = "d2d" if record["kind"] == "MEMSET" else _ENGINE.get(record.get("copy_kind", 0), "other")
            # A copy between devices is made by the one that is read.
            where = record.get("src_device_id" if engine == "p2p" else "device_id", 0)
            builder.add(
                f"{_prefix(program, where)}copy_engine[{engine}]", "transfer", start, end, "", chunks[i], -1, size
            )
    return builder.build(
        **{"source": "measured", "method": traced["method"], "instrumented_total_s": traced["total_s"], **meta}
    )


def from_events(program: ops.HostProgram, traced: Mapping[str, Any], meta: Mapping[str, Any]) -> Timeline:
    """Event times of kernels and copies on their streams; there is nothing about the host."""
    builder = TimelineBuilder()
    numbers = {stream.name: i for i, stream in enumerate(program.streams)}
    done: dict[str, float] = {}
    alone = [call[0] for call in issued_work(program) if len(call) == 1]
    for op, (earliest, end) in zip(alone, traced["events"], strict=True):
        lane = f"stream[{numbers[op.stream]}]"
        start = max(earliest, done.get(lane, 0.0))
        kind = "kernel" if isinstance(op, ops.Launch) else "copy"
        builder.add(lane, kind, start, end, "", op.chunk, -1, getattr(op, "bytes", 0) if kind == "copy" else 0)
        done[lane] = end
    return builder.build(
        **{"source": "measured", "method": traced["method"], "instrumented_total_s": traced["total_s"], **meta}
    )


def _match(program: ops.HostProgram, work: Sequence[Mapping[str, Any]]) -> tuple[list[int], list[str]]:
    """Chunk and lane of each record."""
    numbers = {stream.name: i for i, stream in enumerate(program.streams)}
    issued = issued_work(program)
    groups: dict[int, list[int]] = {}
    for i, record in enumerate(work):
        groups.setdefault(record["correlation_id"], []).append(i)
    chunks, lanes = [-1] * len(work), [""] * len(work)
    if len(groups) == len(issued) and len(program.threads) == 1:
        for call, correlation in zip(issued, sorted(groups), strict=True):
            # Nodes were captured in the order of the program; one pageable copy leaves several records.
            mine = sorted(groups[correlation], key=lambda i: (work[i].get("graph_node_id", 0), work[i]["start"]))
            for at, i in enumerate(mine):
                op = call[min(at, len(call) - 1)]
                number = numbers.get(getattr(op, "stream", ""), len(numbers))
                where = program.streams[number].device if number < len(numbers) else 0
                chunks[i], lanes[i] = op.chunk, f"{_prefix(program, where)}stream[{number}]"
        return chunks, lanes
    # Streams in order of first use.
    seen: dict[int, int] = {}
    for i in sorted(range(len(work)), key=lambda i: (work[i]["correlation_id"], work[i]["start"])):
        number = seen.setdefault(work[i].get("stream_id", 0), len(seen))
        lanes[i] = f"{_prefix(program, work[i].get('device_id', 0))}stream[{number}]"
    return chunks, lanes


def _prefix(program: ops.HostProgram, device: int) -> str:
    """What lanes of a device begin with: nothing in a program that has one."""
    return f"gpu[{device}]." if program.devices > 1 else ""


def _by_thread(calls: Sequence[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    threads: dict[int, list[Mapping[str, Any]]] = {}
    for record in sorted(calls, key=lambda r: r["start"]):
        threads.setdefault(record.get("thread_id", 0), []).append(record)
    return dict(enumerate(threads.values()))


def _bare_driver_calls(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Driver calls that no runtime call made (CuPy launches kernels through the driver)."""
    inside = sorted((r["start"], r["end"]) for r in records if r["kind"] == "RUNTIME")
    bare, at = [], 0
    for record in sorted((r for r in records if r["kind"] == "DRIVER"), key=lambda r: r["start"]):
        while at < len(inside) and inside[at][1] < record["start"]:
            at += 1
        if at == len(inside) or inside[at][0] > record["start"]:
            bare.append(record)
    return bare


def _call_kind(name: str) -> tuple[str, str]:
    if any(word in name for word in _WAITS):
        return "wait", "host_sync"
    if any(word in name for word in _CALLS["launch"]):
        return "launch", ""
    if any(word in name for word in _CALLS["alloc"]):
        return "alloc", ""
    return "issue", ""


def _s(ns: int, zero: int) -> float:
    return (ns - zero) * 1e-9
