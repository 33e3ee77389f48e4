"""What host functions, other threads and its own beginning cost a Python thread, and how soon it wakes up.

A part of ``host_calls``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from gpusim.program import host as ops
from realkernels._harness.host_calls import Call, CallMaker
from realkernels._harness.host_memory import Arena
from realkernels._harness.host_run import Gate
from realkernels._harness.host_threads import let_go, work_for
from realkernels.microbench.bench import KIB, MIB
from realkernels.microbench.host_lab import Lab, spread, time_calls, time_row

__all__ = ["SECTIONS"]

WAITS = (0.0, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 3e-3)
WORK = ops.Work(ops.FixedCost(0.0))
COPY = ops.MemcpyAsync("h2d", 4 * KIB, "s")
NEW_THREADS = {
    "ordinary": (ops.Launch(WORK, "s"),) * 3,
    "ordinary, copy first": (COPY, ops.Launch(WORK, "s"), COPY),
    "per_thread": (ops.Launch(WORK, "own"),) * 3,
}
"""What new threads begin with: calls on a stream that exists, and on that of their own."""
# Arenas have 2 MiB: one of 1 MiB would take a part of a page, whose rest the bench ``alloc`` measures.


def _wake(_lab: Lab) -> Iterator[dict]:
    """A kernel, a host function behind it that gives back a slot, and a thread that waits for the slot."""
    program = ops.HostProgram("wake", (), (ops.Stream("s", "non_blocking"),), slots=(ops.Slots("slot", 0),))
    maker = CallMaker(program, Arena(2 * MIB))
    for seconds in WAITS:
        steps = (
            ops.Launch(ops.Work(ops.FixedCost(seconds)), "s"),
            ops.HostFunc("s", releases="slot"),
            ops.AcquireSlot("slot"),
        )
        calls = maker.calls(steps)

        def all_of_them(calls=calls) -> None:
            for call in calls:
                call()

        time_row(all_of_them, 5)
        samples = time_calls(all_of_them, 60) - seconds
        yield {"call": "launch_host_func_acquire", "state": "idle", "bytes": 0, "kernel_s": seconds, **spread(samples)}
        launch, stream, seen = calls[0], maker.streams["s"], []

        def awake(launch=launch, stream=stream, seen=seen) -> None:
            seen.clear()
            launch()
            stream.launch_host_func(seen.append, None)
            while not seen:
                let_go()

        time_row(awake, 5)
        yield {"call": "launch_host_func_seen", "state": "idle", "bytes": 0, "kernel_s": seconds,
               **spread(time_calls(awake, 60) - seconds)}  # fmt: skip
    yield from _sleeping_threads()
    for seconds in (0.0, 20e-6, 100e-6):
        call = maker.call(ops.HostWork(seconds))
        yield {"call": "host_work", "state": "idle", "bytes": 0, "asked_s": seconds, **spread(time_calls(call, 60))}


def _beside_functions(lab: Lab) -> Iterator[dict]:
    """The same calls turn by turn, with and without a host function that runs between two turns on its own thread."""
    turns, warm_up = 70, 10
    program = ops.HostProgram("beside", (), (ops.Stream("s", "non_blocking"),), slots=(ops.Slots("slot", turns),))
    copy, kernel = ops.MemcpyAsync("h2d", 4 * KIB, "s"), ops.Launch(WORK, "s")
    for beside, last in (("nothing", ops.EventRecord("e", "s")), ("functions", ops.HostFunc("s", releases="slot"))):
        steps = (ops.HostWork(100e-6), ops.AcquireSlot("slot"), copy, kernel, copy, kernel, last)
        calls, samples = CallMaker(program, Arena(2 * MIB)).calls(steps), []
        for turn in range(turns):
            times = [float(time_calls(call, 1)[0]) for call in calls]
            if turn >= warm_up:
                samples.append(times)
        lab.runtime.deviceSynchronize()
        for place, (step, times) in enumerate(zip(steps, zip(*samples, strict=True), strict=True)):
            yield {"call": f"beside: {type(step).__name__}", "state": beside, "bytes": place, **spread(times)}


def _interrupted(lab: Lab) -> Iterator[dict]:
    """A thread that only makes calls, with and without host functions on a stream of their own that run meanwhile."""
    turns = 200
    streams = (ops.Stream("s", "non_blocking"), ops.Stream("t", "non_blocking"))
    program = ops.HostProgram("interrupted", (), streams, slots=(ops.Slots("slot", 0),))
    launches = (ops.Launch(WORK, "s"),) * 8
    for beside, last in (("nothing", ops.EventRecord("e", "t")), ("functions", ops.HostFunc("t", releases="slot"))):
        maker = CallMaker(program, Arena(2 * MIB))
        calls = maker.calls((*launches, last))

        def turn(calls=calls) -> None:
            for call in calls:
                call()

        time_row(turn, 10)
        lab.runtime.deviceSynchronize()
        _count(maker)
        seconds = time_row(turn, turns)
        ran = _count(maker)
        lab.runtime.deviceSynchronize()
        yield {"call": "interrupted: 8 Launch", "state": beside, "bytes": 0, "row_s": seconds, "functions": ran / turns}


def _count(maker: CallMaker) -> int:
    """How often the program's slot has been given back since the last time that this was asked."""
    return len(list(iter(lambda: maker.slots["slot"].acquire(blocking=False), False)))


def _sleeping_threads() -> Iterator[dict]:
    """From a semaphore's release to the waking of a thread that has slept for a while; no GPU in it."""
    for seconds in WAITS:
        samples = []
        for _ in range(30):
            slot, times = threading.Semaphore(0), []

            def sleeper(slot=slot, times=times) -> None:
                slot.acquire()
                times.append(time.perf_counter())

            thread = threading.Thread(target=sleeper)
            thread.start()
            work_for(seconds + 50e-6)
            begin = time.perf_counter()
            slot.release()
            thread.join()
            samples.append(times[0] - begin)
        yield {"call": "wake_thread", "state": "idle", "bytes": 0, "slept_s": seconds, **spread(samples)}


def _two_threads(lab: Lab) -> Iterator[dict]:
    """Launches from several threads at once, each on a stream of its own: locks show as longer calls."""
    for count in (1, 2, 4):
        names = [f"s{i}" for i in range(count)]
        maker = CallMaker(
            ops.HostProgram("threads", (), tuple(ops.Stream(n, "non_blocking") for n in names)), Arena(2 * MIB)
        )
        results: list[float] = []
        gate = threading.Barrier(count)

        def body(name: str, maker=maker, results=results, gate=gate) -> None:
            lab.runtime.setDevice(0)
            call = maker.call(ops.Launch(WORK, name))
            time_row(call, 20)
            gate.wait()
            results.append(time_row(call, 300))

        threads = [threading.Thread(target=body, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lab.runtime.deviceSynchronize()
        yield {"call": "launch_from_threads", "state": "running", "bytes": count, "row_s": max(results)}


def _new_threads(lab: Lab) -> Iterator[dict]:
    """The first calls of threads that have only chosen the device; ``bytes`` is the place of a call, or the threads.

    One thread at a time, and the first calls of two, four and eight at once: from the first one's begin to the last
    one's end.
    """
    streams = (ops.Stream("s", "blocking"), ops.Stream("own", "per_thread"))
    maker = CallMaker(ops.HostProgram("new threads", (), streams), Arena(2 * MIB))
    for state, steps in NEW_THREADS.items():
        calls = maker.calls(steps)
        _beginning(lab, calls, 1)
        samples = [_beginning(lab, calls, 1)[0] for _ in range(40)]
        for place in range(1, len(steps) + 1):
            yield {"call": "new_thread", "state": state, "bytes": place,
                   **spread([times[place] - times[place - 1] for times in samples])}  # fmt: skip
    for state in ("ordinary", "per_thread"):
        calls = maker.calls(NEW_THREADS[state])
        for count in (2, 4, 8):
            each = [_beginning(lab, calls, count) for _ in range(25)]
            together = [max(times[1] for times in threads) - min(times[0] for times in threads) for threads in each]
            yield {"call": "new_threads", "state": state, "bytes": count, **spread(together)}


def _beginning(lab: Lab, calls: list[Call], count: int) -> list[list[float]]:
    """The times before and after each of these calls in each of ``count`` new threads."""
    clock, gate, seen = time.perf_counter, Gate(count), []

    def body() -> None:
        lab.runtime.setDevice(0)
        lab.runtime.deviceSynchronize()
        gate.pass_through()
        times = [clock()]
        for call in calls:
            call()
            times.append(clock())
        seen.append(times)

    threads = [threading.Thread(target=body) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lab.runtime.deviceSynchronize()
    return seen


SECTIONS = (_wake, _beside_functions, _interrupted, _two_threads, _new_threads)
