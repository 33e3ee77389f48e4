"""What runtime calls cost a Python thread through CuPy, made exactly as measured programs make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpusim.program import host as ops
from realkernels._harness.host_calls import CallMaker
from realkernels._harness.host_memory import Arena
from realkernels._harness.timing import hold_stream
from realkernels.microbench import host_threads
from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import Lab, spread, time_calls, time_row

NOTES = {
    "state": "idle: nothing runs, each call is followed by a device synchronisation; busy: a kernel holds the stream",
    "median_s": "one call timed on its own (includes some 50 ns of the clock)",
    "row_s": "mean of calls one right after the other",
}
WORK = ops.Work(ops.FixedCost(0.0))
SIZES = (4, 4 * KIB, 64 * KIB, 1 * MIB, 16 * MIB)
PAGEABLE = (4, 4 * KIB, 32 * KIB, 64 * KIB, 64 * KIB + 4, 128 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB)


def _cheap_calls(lab: Lab) -> Iterator[dict]:
    maker = _maker(lab)
    for name, op, count in _cheap():
        call = maker.call(op)
        yield from _both(lab, maker, name, 0, call, count)
    for size in SIZES:
        for direction in ("h2d", "d2h", "d2d"):
            call = maker.call(ops.MemcpyAsync(direction, size, "s"))
            yield from _both(lab, maker, f"memcpy_async_{direction}_pinned", size, call, 40 if size <= MIB else 12)
        yield from _both(lab, maker, "memset_async", size, maker.call(ops.MemsetAsync(size, "s")), 40)


def _blocking_calls(lab: Lab) -> Iterator[dict]:
    maker = _maker(lab)
    for size in PAGEABLE:
        yield from _blocking(lab, maker, size)
    for name, op in (
        ("stream_sync", ops.StreamSync("s")),
        ("device_sync", ops.DeviceSync()),
        ("event_sync", ops.EventSync("e")),
    ):
        call = maker.call(op)
        time_row(call, 20)
        yield {"call": name, "state": "idle", "bytes": 0, **spread(time_calls(call, 300)), "row_s": time_row(call, 300)}


def _graph_calls(lab: Lab) -> Iterator[dict]:
    maker = _maker(lab)
    for nodes in (1, 10, 100):
        call = maker.call(ops.GraphLaunch(f"g{nodes}", "s"))
        yield from _both(lab, maker, "graph_launch", nodes, call, 40, busy_count=10)


def _maker(lab: Lab) -> CallMaker:
    maker = CallMaker(_program(), Arena(2 * lab.bytes))
    maker.capture()
    return maker


def _program() -> ops.HostProgram:
    graphs = tuple(ops.Graph(f"g{n}", (ops.Launch(WORK, "s"),) * n) for n in (1, 10, 100))
    streams = (ops.Stream("s", "non_blocking"), ops.Stream("t", "non_blocking"))
    return ops.HostProgram("calls", (), streams, graphs=graphs)


def _cheap() -> list[tuple[str, ops.HostOp, int]]:
    return [
        ("launch", ops.Launch(WORK, "s"), 300),
        ("launch_full_grid", ops.Launch(ops.Work(ops.FixedCost(0.0), grid=264, threads=1024), "s"), 200),
        ("event_record", ops.EventRecord("e", "s"), 300),
        ("stream_wait_event", ops.StreamWaitEvent("e", "t"), 300),
        ("host_func", ops.HostFunc("s"), 60),
    ]


def _both(
    lab: Lab, maker: CallMaker, name: str, size: int, call: Callable[[], object], count: int, busy_count: int = 0
) -> Iterator[dict]:
    stream, sync = maker.streams["s"], lab.runtime.deviceSynchronize
    for _ in range(5):
        call()
    sync()
    idle = time_calls(call, count, sync)
    yield {"call": name, "state": "idle", "bytes": size, **spread(idle)}
    many = min(busy_count or count, 200)
    with stream:
        hold_stream(30e-3)
    busy = time_calls(call, many)
    sync()
    with stream:
        hold_stream(30e-3)
    row = time_row(call, many)
    sync()
    yield {"call": name, "state": "busy", "bytes": size, **spread(busy), "row_s": row}


def _blocking(lab: Lab, maker: CallMaker, size: int) -> Iterator[dict]:
    sync, count = lab.runtime.deviceSynchronize, 30 if size <= MIB else 8
    for direction in ("h2d", "d2h"):
        for pinned in (True, False):
            place = "pinned" if pinned else "pageable"
            pairs = [("memcpy", ops.Memcpy(direction, size, pinned))]
            if not pinned:
                pairs.append(("memcpy_async", ops.MemcpyAsync(direction, size, "s", pinned)))
            for name, op in pairs:
                call = maker.call(op)
                call()
                sync()
                calls, totals = [], []
                for _ in range(count):
                    calls.append(time_calls(call, 1)[0])
                    totals.append(calls[-1] + time_calls(sync, 1)[0])
                yield {"call": f"{name}_{direction}_{place}", "state": "idle", "bytes": size, **spread(calls),
                       "with_sync_s": spread(totals)["median_s"]}  # fmt: skip


def _round_trips(lab: Lab) -> Iterator[dict]:
    """From the call to the return of the synchronisation behind it, less the kernel's own duration."""
    maker = _maker(lab)
    for seconds in (0.0, 20e-6, 200e-6, 2e-3):
        launch = maker.call(ops.Launch(ops.Work(ops.FixedCost(seconds)), "s"))
        for name, op in (("stream", ops.StreamSync("s")), ("device", ops.DeviceSync())):
            wait = maker.call(op)

            def both(launch=launch, wait=wait) -> None:
                launch()
                wait()

            time_row(both, 5)
            samples = time_calls(both, 60) - seconds
            yield {
                "call": f"launch_and_{name}_sync",
                "state": "idle",
                "bytes": 0,
                "kernel_s": seconds,
                **spread(samples),
            }
    for nodes in (1, 10):
        launch, wait = maker.call(ops.GraphLaunch(f"g{nodes}", "s")), maker.call(ops.StreamSync("s"))

        def replay(launch=launch, wait=wait) -> None:
            launch()
            wait()

        time_row(replay, 5)
        yield {"call": "graph_launch_and_sync", "state": "idle", "bytes": nodes, **spread(time_calls(replay, 60))}
    for size in (4, 64 * KIB, MIB, 16 * MIB):
        for direction in ("h2d", "d2h"):
            copy, wait = maker.call(ops.MemcpyAsync(direction, size, "s")), maker.call(ops.StreamSync("s"))

            def both(copy=copy, wait=wait) -> None:
                copy()
                wait()

            time_row(both, 5)
            yield {
                "call": f"memcpy_{direction}_and_sync",
                "state": "idle",
                "bytes": size,
                **spread(time_calls(both, 40)),
            }


def _rows(lab: Lab) -> Iterator[dict]:
    """Rows of different calls, because a call after another kind of call may cost more than after its own."""
    maker = _maker(lab)
    copy_in, copy_out = ops.MemcpyAsync("h2d", 4 * KIB, "s"), ops.MemcpyAsync("d2h", 4 * KIB, "s")
    kernel = ops.Launch(WORK, "s")
    other = ops.Launch(WORK, "t")
    rows = {
        "h2d,launch,d2h": (copy_in, kernel, copy_out),
        "launch,record,wait,launch": (kernel, ops.EventRecord("e", "s"), ops.StreamWaitEvent("e", "t"), other),
        "launch on two streams": (kernel, other),
        "nothing": (),
    }
    for name, sequence in rows.items():
        calls = maker.calls(sequence)

        def all_of_them(calls=calls) -> None:
            for call in calls:
                call()

        time_row(all_of_them, 20)
        lab.runtime.deviceSynchronize()
        yield {"call": f"row: {name}", "state": "running", "bytes": 0, "row_s": time_row(all_of_them, 150)}
        lab.runtime.deviceSynchronize()


SECTIONS = (_cheap_calls, _blocking_calls, _graph_calls, _round_trips, _rows, *host_threads.SECTIONS)
