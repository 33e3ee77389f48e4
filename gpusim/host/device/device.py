"""Work on the device: copies on engines, kernels on SMs, host functions on the driver's thread.

Models: copies and memsets within the device as kernels, where it has engines for both directions (`device_copies`);
  both are drawn as copies, because they move bytes for others and compute nothing. The driver's thread, which calls
  host functions one after the other and, for one that waits for the device, wakes up the later the longer it slept.
Omits: what copies from and to the host take of the memory bandwidth of kernels beside them.
Source: realkernels.microbench.host (device: kernel_d2d_kernel, with gaps as between kernels; copies: copy_beside;
  calls: launch_host_func_seen).
"""

from __future__ import annotations

from collections.abc import Generator

from gpusim.engine import Simulation
from gpusim.hardware.launch.simulate import simulate_kernel
from gpusim.hardware.occupancy import occupancy, shared_memory
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.costs import HostCosts
from gpusim.host.device.block_times import SimulatedCost
from gpusim.host.device.blocks import BlockScheduler
from gpusim.host.device.device_copies import transfer_work
from gpusim.host.device.engines import CopyEngines
from gpusim.host.device.left_written import LeftWritten
from gpusim.host.device.sleep import POINTS_US, Sleep
from gpusim.host.device.slots import SlotSemaphore
from gpusim.host.device.streams import Streams
from gpusim.host.device.work import Item, Staged
from gpusim.program import KernelProgram
from gpusim.program.host import (
    ON_DEVICE,
    HostFunc,
    HostProgram,
    Launch,
    MemcpyAsync,
    MemsetAsync,
    RooflineCost,
    Work,
)
from gpusim.timeline import Recorder, Timeline

__all__ = ["Device"]


class Device:
    """Everything behind the runtime calls. ``record`` adds an interval, or is None."""

    def __init__(
        self, sim: Simulation, program: HostProgram, profile: DeviceProfile, costs: HostCosts,
        record: Recorder | None, exact: bool,
    ) -> None:  # fmt: skip
        self.sim, self.profile, self.costs = sim, profile, costs
        self._record = record
        self._exact = exact
        self.streams = Streams(sim, program, profile, self._execute)
        self.engines = CopyEngines(sim, profile, record)
        self.blocks = BlockScheduler(sim, profile)
        self._left = LeftWritten(profile)
        self._func_wake, self._func_idle_since_s = Sleep(profile, "func"), 0.0
        self.functions = 0
        """Host functions that have run."""
        self.slots = {slots.name: SlotSemaphore(sim, slots, self.streams.items) for slots in program.slots}
        self._kernels: dict[int, tuple[Work, Timeline]] = {}
        self._launches = sum(isinstance(op, Launch) for thread in program.threads for op in thread.ops)
        self.zooms: list[tuple[str, float, float, Timeline]] = []
        """(lane, start, end, timeline alone on the device) of each kernel program that ran."""

    def _execute(self, item: Item) -> Generator:
        op = item.op
        if isinstance(op, Staged):
            yield from self._staged(item, op)
        elif isinstance(op, MemcpyAsync | MemsetAsync) and op.direction in ON_DEVICE and self.engines.on_sms:
            yield from self._copy_on_sms(item, op)
        elif isinstance(op, MemcpyAsync | MemsetAsync):
            yield from self._on_engine(item, op)
            self._draw(item, "copy", "copy_engine_busy", op.bytes)
        elif isinstance(op, Launch):
            yield from self._kernel(item, op)
        elif isinstance(op, HostFunc):
            yield from self._func(item, op)

    def _on_engine(self, item: Item, op: MemcpyAsync | MemsetAsync | Staged) -> Generator:
        def served(start_s: float) -> None:
            item.start_s = start_s

        silent = isinstance(op, Staged)
        yield self.engines.copy(op.direction, op.bytes, item.chunk, polled=item.polled, silent=silent, served=served)

    def _on_sms(self, item: Item, work: Work) -> Generator:
        def started() -> None:
            item.start_s = self.sim.now

        yield self.blocks.launch(work, item.stream.spec.priority, started)

    def _staged(self, item: Item, op: Staged) -> Generator:
        """A part of a copy; together they are one interval, as a profiler shows it."""
        yield from self._on_engine(item, op)
        whole = op.whole
        whole.first = first = whole.first or item
        whole.bytes += op.bytes
        if op.last:
            item.start_s = first.start_s
            self.engines.record(op.direction, item.start_s, item.chunk, whole.bytes)
            self._draw(item, "copy", "copy_engine_busy", whole.bytes, first)

    def _copy_on_sms(self, item: Item, op: MemcpyAsync | MemsetAsync) -> Generator:
        read = 0.0 if isinstance(op, MemsetAsync) else op.bytes
        yield from self._on_sms(item, self._left.behind(transfer_work(self.profile, op), read, op.bytes))
        self.engines.record(op.direction, item.start_s, item.chunk, op.bytes)
        self._draw(item, "copy", "cta_slot", op.bytes)

    def _kernel(self, item: Item, op: Launch) -> Generator:
        work, zoom = self._work(op.kernel)
        yield from self._on_sms(item, self._left.behind(work, *_moved(work, zoom)))
        self._draw(item, "kernel", "cta_slot")
        if zoom is not None:
            self.zooms.append((f"{item.lane}.kernel[{max(item.chunk, 0)}]", item.start_s, self.sim.now, zoom))

    def _work(self, kernel: Work | KernelProgram) -> tuple[Work, Timeline | None]:
        """A kernel program as its first wave's slots for its simulated duration."""
        if isinstance(kernel, Work):
            return kernel, None
        known = self._kernels.get(id(kernel))
        if known is None:
            fits = occupancy(kernel, self.profile)
            record = self._record is not None
            timeline = simulate_kernel(kernel, self.profile, exact=self._exact, trace=record, clean=False)
            duration = timeline.total_s - self.profile.value("launch.overhead")
            room = fits.ctas_per_sm * int(self.profile.value("sm.count"))
            wave = min(kernel.grid, room)
            work = Work(
                self._cost(kernel, duration, duration * timeline.meta["hbm_busy"], room // kernel.grid),
                wave,
                kernel.threads,
                kernel.registers,
                shared_memory(kernel, self.profile),
                kernel.name,
            )
            known = self._kernels[id(kernel)] = (work, timeline)
        return known

    def _cost(self, kernel: KernelProgram, alone_s: float, hbm_s: float, beside: int) -> SimulatedCost:
        """What a kernel program takes alone, and beside as many of its kind as find room."""
        if beside < 2 or self._launches < 2 or kernel.equal_tiles is None:
            return SimulatedCost(alone_s, hbm_s)
        many = kernel.resized(grid=beside * kernel.grid)
        crowd = simulate_kernel(many, self.profile, exact=self._exact, trace=False, clean=False)
        return SimulatedCost(alone_s, hbm_s, beside / (crowd.total_s - self.profile.value("launch.overhead")))

    def _func(self, item: Item, op: HostFunc) -> Generator:
        sim = self.sim
        yield sim.timeout(self.costs.call("host_func_run") + self._woken_s(item))
        # The way to the function is part of the wait for what came before it.
        item.start_s = item.ready_s = sim.now
        if op.syncs:
            awaited = self.streams.state(op.syncs, "").last
            if awaited is not None and not awaited.finished:
                yield from sim.wait(awaited.done, item.name, "host_sync", awaited)
        yield sim.timeout(op.seconds)
        self._func_idle_since_s = sim.now
        self.functions += 1
        self._draw(item, "host")
        if op.releases:
            self.slots[op.releases].give()

    def _woken_s(self, item: Item) -> float:
        """What the driver's thread takes to wake up: nothing if the function need not wait for the device."""
        waited = [dep for dep, _ in item.deps if dep.after != "func" and dep.end_s > item.enqueued_s]
        slept = max(self.sim.now - self._func_idle_since_s, 1e-6 * POINTS_US[0])
        return self._func_wake.extra_s(slept) if waited else 0.0

    def _draw(self, item: Item, kind: str, resource: str = "", size: int = 0, first: Item | None = None) -> None:
        """An item and the waits before it, on its stream's lane.

        It waited until it was ready, and from then on for ``resource``. ``first`` is the part of it that did so.
        """
        if self._record is None:
            return
        first, stream = first or item, item.stream
        start = max(item.start_s, stream.free_s)
        begin = max(stream.free_s, first.enqueued_s)
        ready = min(max(first.ready_s, begin), start)
        if ready > begin:
            cause = max((dep for dep, _ in first.deps if dep.row >= 0), key=lambda dep: dep.end_s, default=None)
            self._record(item.lane, "wait", begin, ready, first.reason, item.chunk, -1, 0, cause.row if cause else -1)
        if start > ready:
            # Who had taken it is not known here.
            self._record(item.lane, "wait", ready, start, resource, item.chunk)
        stream.free_s = self.sim.now
        item.row = self._record(item.lane, kind, start, stream.free_s, "", item.chunk, -1, size)


def _moved(work: Work, timeline: Timeline | None) -> tuple[float, float]:
    """Bytes that a kernel reads and writes; of one that says its duration nobody knows."""
    if timeline is not None:
        return timeline.meta["bytes_read"], timeline.meta["bytes_written"]
    cost = work.cost
    return (cost.bytes - cost.writes, cost.writes) if isinstance(cost, RooflineCost) else (0.0, 0.0)
