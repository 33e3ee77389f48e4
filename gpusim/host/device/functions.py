"""Host functions, and the slots that they give back.

Models: the driver's thread, which calls host functions one after the other and, for one that waits for the device,
  wakes up the later the longer it slept.
Omits: that each device may have a thread of its own.
Source: realkernels.microbench.host (calls: launch_host_func_seen).
"""

from __future__ import annotations

from collections.abc import Generator

from gpusim.engine import Simulation
from gpusim.host.costs import HostCosts
from gpusim.host.device.drawing import Drawing
from gpusim.host.device.sleep import POINTS_US, Sleep
from gpusim.host.device.slots import SlotSemaphore
from gpusim.host.device.streams import Streams
from gpusim.host.device.work import Item
from gpusim.program.host import HostFunc, HostProgram

__all__ = ["HostFunctions"]


class HostFunctions:
    """The driver's thread and all slots of a program."""

    def __init__(
        self, sim: Simulation, program: HostProgram, costs: HostCosts, streams: Streams, drawing: Drawing
    ) -> None:
        self._sim, self._costs, self._streams, self._drawing = sim, costs, streams, drawing
        self._wake, self._idle_since_s = Sleep(costs.profile, "func"), 0.0
        self.called = 0
        """How many have run."""
        self.slots = {slots.name: SlotSemaphore(sim, slots, streams.items, program) for slots in program.slots}

    def run(self, item: Item, op: HostFunc) -> Generator:
        """Call one, once its stream has come to it."""
        sim = self._sim
        yield sim.timeout(self._costs.call("host_func_run") + self._woken_s(item))
        # The way to the function is part of the wait for what came before it.
        item.start_s = item.ready_s = sim.now
        if op.syncs:
            awaited = self._streams.state(op.syncs, "").last
            if awaited is not None and not awaited.finished:
                yield from sim.wait(awaited.done, item.name, "host_sync", awaited)
        yield sim.timeout(op.seconds)
        self._idle_since_s = sim.now
        self.called += 1
        self._drawing.item(item, sim.now, "host")
        if op.releases:
            self.slots[op.releases].give()

    def _woken_s(self, item: Item) -> float:
        """What the driver's thread takes to wake up: nothing if the function need not wait for the device."""
        waited = [dep for dep, _ in item.deps if dep.after != "func" and dep.end_s > item.enqueued_s]
        slept = max(self._sim.now - self._idle_since_s, 1e-6 * POINTS_US[0])
        return self._wake.extra_s(slept) if waited else 0.0
