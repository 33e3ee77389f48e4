"""Runs a host program on the real runtime: every op as its real call, timed from outside."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gpusim.program import host as ops
from realkernels._harness.device import let_see_each_other
from realkernels._harness.host_calls import Call, CallMaker
from realkernels._harness.host_memory import Arena
from realkernels._harness.host_oracle import expected, mismatches
from realkernels._harness.host_threads import let_go, put_back

__all__ = ["Gate", "HostRunner", "calls_before"]


class HostRunner:
    """One program made ready to run any number of times."""

    def __init__(
        self, program: ops.HostProgram, arena: Arena, kernels: Mapping[str, Callable[[int], Call]] | None = None
    ) -> None:
        self.program = program
        let_see_each_other(program.devices)
        self._maker = CallMaker(program, arena, kernels)
        self._maker.capture()
        self._calls = [self._maker.calls(thread.ops) for thread in program.threads]
        self.checked = False

    def run(self) -> float:
        """Seconds from the first call to the end of a synchronisation of each device behind the last."""
        synchronize = _synchronizer(self.program.devices)
        synchronize()
        run = self._run_alone if len(self._calls) == 1 else self._run_threads
        gc.disable()
        try:
            begin = run()
            synchronize()
            return time.perf_counter() - begin
        finally:
            gc.enable()
            self._reset()

    def _run_alone(self) -> float:
        begin = time.perf_counter()
        for call in self._calls[0]:
            call()
        return begin

    def _run_threads(self) -> float:
        import cupy

        gate = Gate(len(self._calls))
        failures: list[BaseException] = []
        starts: list[float] = []

        def body(calls: list[Call]) -> None:
            try:
                # A new thread needs its own device context before it may use streams.
                cupy.cuda.runtime.setDevice(0)
                cupy.cuda.runtime.deviceSynchronize()
                gate.pass_through()
                # Stamped by each thread: whoever waits for them may wake up last.
                starts.append(time.perf_counter())
                for call in calls:
                    call()
            except BaseException as error:  # handed to the caller's thread
                failures.append(error)
                gate.open = True

        threads = [threading.Thread(target=body, args=(calls,)) for calls in self._calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return min(starts)

    def _reset(self) -> None:
        """Empty pools and put back slots, so that each run starts like the first."""
        for pool in self._maker.pools.values():
            pool.empty()
        put_back(self.program, self._maker.slots)

    def check(self) -> str:
        """Run once and compare host memory with the oracle; "" or what is wrong."""
        views = self._host_views()
        plan = expected(self.program)
        # A buffer that is read and written needs a copy of what it held; others are not touched.
        read = {source for content in plan.content.values() for source, _, _ in content}
        inputs = {name: view.copy() for name, view in views.items() if name in plan.written & read}
        for name in plan.written - read:
            if name in views:
                views[name][:] = 0
        self.run()
        wrong = mismatches(plan, views, inputs)
        for name, before in inputs.items():
            views[name][:] = before
        self.checked = not wrong
        return wrong

    def run_with_events(self) -> tuple[float, list[tuple[float, float]]]:
        """(seconds, [(start, end) of each kernel and copy in order of issue]) by CUDA events.

        For where CUPTI is not to be had. Events cost host and device time, and one before a copy
        is passed as soon as its predecessor ends, so a start here is the earliest possible one.
        """
        import cupy

        if self.program.devices > 1:
            raise RuntimeError("events of several devices have no time in common: install cupti-python")
        operations = [op for thread in self.program.threads for op in thread.ops]
        zero = cupy.cuda.Event()
        pairs = []
        calls: list[Call] = []
        for op, call in zip(operations, [c for part in self._calls for c in part], strict=True):
            if isinstance(op, ops.MemcpyAsync | ops.MemsetAsync | ops.Launch):
                stream, pair = self._maker.streams[op.stream], (cupy.cuda.Event(), cupy.cuda.Event())
                pairs.append(pair)
                calls += [partial(pair[0].record, stream), call, partial(pair[1].record, stream)]
            else:
                calls.append(call)
        cupy.cuda.runtime.deviceSynchronize()
        zero.record()
        begin = time.perf_counter()
        for call in calls:
            call()
        cupy.cuda.runtime.deviceSynchronize()
        seconds = time.perf_counter() - begin
        since = cupy.cuda.get_elapsed_time
        times = [(since(zero, a) * 1e-3, since(zero, b) * 1e-3) for a, b in pairs]
        self._reset()
        return seconds, times

    def _host_views(self) -> dict[str, Any]:
        return {b.name: self._maker.pointers.view(b.name) for b in self.program.buffers if b.place != "device"}


def calls_before(devices: int) -> int:
    """How many runtime calls a run makes on several devices before its first one: those of `_synchronizer`."""
    return 2 * devices + 1


def _synchronizer(devices: int) -> Callable[[], None]:
    """Waits for every device; afterwards the first one is the current one, as before a run."""
    import cupy

    wait, choose = cupy.cuda.runtime.deviceSynchronize, cupy.cuda.runtime.setDevice
    if devices == 1:
        return wait

    def synchronize() -> None:
        for device in range(devices):
            choose(device)
            wait()
        choose(0)

    return synchronize


class Gate:
    """Threads that stay awake until the last of them is there: one that sleeps would begin some 100 us late."""

    def __init__(self, count: int) -> None:
        self._missing = count
        self._lock = threading.Lock()
        self.open = False

    def pass_through(self) -> None:
        with self._lock:
            self._missing -= 1
            self.open = self.open or self._missing == 0
        while not self.open:
            let_go()
