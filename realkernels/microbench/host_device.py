"""What the device's front end takes between two pieces of work: kernels, copies, events, host functions.

Everything is queued before any of it runs, so no host time is in these numbers. ``gap_s`` is the time from
the end of one stamped kernel to the start of the next, whatever lies between them in the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import D2D, D2H, H2D, Lab, spread

NOTES = {
    "gap_s": "end of a stamped kernel to the first block of the next (median, p10, p90 over the chain)",
    "late": "the host was slower than its head start; the row is void",
    "skew_s": "start after the first start among kernels released together",
}
CHAIN = 40
KERNEL_S = 10e-6


def _gaps(lab: Lab, kernels: int, seconds: float) -> dict:
    first, last = lab.stamps(kernels)
    row = {f"gap_{key}": value for key, value in spread(first[1:] - last[:-1] - seconds).items()}
    return {**row, "late": lab.late}


def _kernel_gaps(lab: Lab) -> Iterator[dict]:
    """Same stream, nothing between: launch latency of a queued kernel after its predecessor."""
    (stream,) = lab.streams(1)
    shapes = ((1, 32), (132, 256), (264, 1024), (1, 1024))
    for grid, block in shapes:
        for seconds in (0.0, 2e-6, 10e-6, 50e-6):
            with lab.released([stream], 3e-3):
                for i in range(CHAIN):
                    lab.kernel(stream, i, seconds, grid, block)
            yield {
                "kind": "kernel_kernel",
                "grid": grid,
                "block": block,
                "kernel_s": seconds,
                **_gaps(lab, CHAIN, seconds),
            }


def _between(lab: Lab) -> Iterator[dict]:
    """Same stream, one or more things between two kernels."""
    stream, other = lab.streams(2)
    event = lab.cupy.cuda.Event(disable_timing=True)
    passed = lab.cupy.cuda.Event(disable_timing=True)
    passed.record(other)
    things: list[tuple[str, int, int, Callable[[], object]]] = [
        ("event_record", 0, 1, lambda: event.record(stream)),
        ("event_record", 0, 4, lambda: event.record(stream)),
        ("wait_passed_event", 0, 1, lambda: stream.wait_event(passed)),
        ("wait_passed_event", 0, 4, lambda: stream.wait_event(passed)),
        ("host_func", 0, 1, lambda: stream.launch_host_func(_nothing, None)),
        ("host_func", 0, 2, lambda: stream.launch_host_func(_nothing, None)),
        ("memset_4", 4, 1, lambda: lab.runtime.memsetAsync(lab.device, 0, 4, stream.ptr)),
    ]
    sizes = (4, 4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB)
    for size in sizes:
        for name, kind in (("h2d", H2D), ("d2h", D2H), ("d2d", D2D)):
            for count in (1, 2, 4):
                thing = partial(lab.copy, stream, kind, size)
                things += [(name, size, count, thing)]
    for name, size, count, thing in things:
        kernels = 12 if size > MIB else 25
        thing()
        with lab.released([stream], 6e-3):
            for i in range(kernels):
                lab.kernel(stream, i, KERNEL_S)
                if i < kernels - 1:
                    for _ in range(count):
                        thing()
        yield {"kind": f"kernel_{name}_kernel", "bytes": size, "count": count, "kernel_s": KERNEL_S,
               **_gaps(lab, kernels, KERNEL_S)}  # fmt: skip


def _nothing(_: object) -> None:
    pass


def _hops(lab: Lab) -> Iterator[dict]:
    """Kernels that alternate between two streams, each waiting for the other's event; copies likewise."""
    a, b = lab.streams(2)
    new = lab.cupy.cuda.Event
    for name, on_b in (("kernel", None), ("h2d_4k", H2D), ("d2h_4k", D2H)):
        events = [new(disable_timing=True) for _ in range(2 * CHAIN)]
        with lab.released([a, b], 5e-3):
            for i in range(CHAIN):
                stream = a if i % 2 == 0 or on_b else b
                nxt = b if stream is a else a
                lab.kernel(stream, i, KERNEL_S)
                events[2 * i].record(stream)
                nxt.wait_event(events[2 * i])
                if on_b:
                    lab.copy(b, on_b, 4 * KIB)
                    events[2 * i + 1].record(b)
                    a.wait_event(events[2 * i + 1])
        yield {"kind": f"event_hop_{name}", "kernel_s": KERNEL_S, **_gaps(lab, CHAIN, KERNEL_S)}


def _fan_out(lab: Lab) -> Iterator[dict]:
    """Streams that one event releases: how far apart do their first kernels start?"""  # noqa: D400
    for count in (2, 4, 8, 16, 32):
        streams = lab.streams(count)
        skews = []
        for _ in range(5):
            with lab.released(streams, 3e-3):
                for i, stream in enumerate(streams):
                    lab.kernel(stream, i, 200e-6)
            skews.append(np.sort(lab.stamps(count)[0]))
        middle = np.median(skews, axis=0)
        yield {"kind": "fan_out", "streams": count, "skew_s": [round(float(v), 9) for v in middle], "late": lab.late}


def _throughput(lab: Lab) -> Iterator[dict]:
    """Kernels per second through the front end: short kernels on several streams at once."""
    for count in (1, 2, 4, 8, 16, 32):
        for seconds in (0.0, 5e-6):
            each = max(4, 128 // count)
            streams = lab.streams(count)
            with lab.released(streams, 8e-3):
                for i in range(each):
                    for j, stream in enumerate(streams):
                        lab.kernel(stream, i * count + j, seconds)
            first, last = lab.stamps(each * count)
            yield {
                "kind": "throughput", "streams": count, "kernel_s": seconds, "kernels": each * count,
                "per_kernel_s": float(last.max() - first.min()) / (each * count - 1), "late": lab.late,
            }  # fmt: skip


def _graphs(lab: Lab) -> Iterator[dict]:
    """Gaps inside a graph: a chain of kernels, a chain with copies, forks and joins; between two launches."""
    stream, other = lab.streams(2)

    def capture(body: Callable[[], None]) -> Any:
        stream.begin_capture()
        body()
        graph = stream.end_capture()
        graph.upload(stream)
        lab.runtime.deviceSynchronize()
        return graph

    def chain(copy: int | None = None) -> None:
        for i in range(CHAIN):
            lab.kernel(stream, i, KERNEL_S)
            if copy is not None:
                lab.copy(stream, copy, 4 * KIB)

    def forks() -> None:
        for i in range(0, CHAIN, 2):
            lab.kernel(stream, i, KERNEL_S)
            fork, join = (lab.cupy.cuda.Event(disable_timing=True) for _ in range(2))
            fork.record(stream)
            other.wait_event(fork)
            lab.kernel(other, i + 1, KERNEL_S)
            join.record(other)
            stream.wait_event(join)

    bodies = {
        "chain": chain,
        "chain_h2d_4k": lambda: chain(H2D),
        "chain_d2h_4k": lambda: chain(D2H),
        "fork_join": forks,
    }
    for name, body in bodies.items():
        graph = capture(body)
        with lab.released([stream], 2e-3):
            graph.launch(stream)
        yield {"kind": f"graph_{name}", "nodes": CHAIN, "kernel_s": KERNEL_S, **_gaps(lab, CHAIN, KERNEL_S)}
    graphs = [capture(lambda i=i: lab.kernel(stream, i, KERNEL_S)) for i in range(10)]
    with lab.released([stream], 2e-3):
        for graph in graphs:
            graph.launch(stream)
    yield {"kind": "graph_after_graph", "nodes": 1, "kernel_s": KERNEL_S, **_gaps(lab, 10, KERNEL_S)}


SECTIONS = (_kernel_gaps, _between, _hops, _fan_out, _throughput, _graphs)
