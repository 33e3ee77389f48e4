"""What all threads of a program see: the devices, events, buffers, pools, and the lock inside the runtime."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from gpusim.engine import Simulation
from gpusim.errors import GpusimError
from gpusim.host.calls.staging import Staging
from gpusim.host.device.machine import Machine
from gpusim.host.device.memory import DeviceMemory
from gpusim.host.device.pages import Pages
from gpusim.host.device.pools import MemoryPool
from gpusim.host.device.sleep import Sleep
from gpusim.host.device.work import Item
from gpusim.program.host import EventRecord, FreeAsync, HostProgram, MallocAsync

__all__ = ["Allocated", "Shared"]


class Shared:
    """One program under way."""

    def __init__(self, sim: Simulation, program: HostProgram, machine: Machine) -> None:
        self.sim, self.program, self.machine, self.costs = sim, program, machine, machine.costs
        each = range(program.devices)
        self.staging = [Staging(machine, program) for _ in each]
        self.pages = [Pages(machine.costs) for _ in each]
        self.memory = [DeviceMemory(machine.profile) for _ in each]
        self.slot_wake = Sleep(machine.profile, "slot")
        self.pools = {pool.name: MemoryPool(pool, machine.costs, self.pages[pool.device]) for pool in program.pools}
        self._expect_frees()
        self.running = len(program.threads)
        """Threads that still have calls to make."""
        self.lock_share = self.costs.call("lock") / self.costs.call("launch") if self.costs.call("launch") else 0.0
        self.lock_free_s: Counter[int] = Counter()
        """When the lock inside the runtime is free again: in Python there is one, in C++ one for each device."""
        self.seen_idle = Counter[int]()
        """How many items there were in all when the host last saw each device idle, at a synchronisation."""
        self.events: dict[str, Item] = {}
        """Latest record of each event."""
        self.buffers = {b.name: Allocated("declared", b.bytes, b.device) for b in program.buffers}
        for buffer in program.buffers:
            if buffer.place == "device":
                self.memory[buffer.device].take(buffer.name, buffer.bytes)
        self._recorded = {op.event for t in program.threads for op in t.ops if isinstance(op, EventRecord)}

    def _expect_frees(self) -> None:
        """Tell the pools which streams free into them: as a program that runs again they know all from the start."""
        every = [(thread.name, op) for thread in self.program.threads for op in thread.ops]
        pool_of = {op.buffer: self.pools.get(op.pool) for _, op in every if isinstance(op, MallocAsync)}
        order = {stream.name: number for number, stream in enumerate(self.program.streams)}
        frees = [(thread, op) for thread, op in every if isinstance(op, FreeAsync) and op.stream in order]
        for thread, op in sorted(frees, key=lambda free: order[free[1].stream]):
            pool = pool_of.get(op.buffer)
            if pool is not None:
                pool.freeing[self.machine.streams.key(op.stream, thread)] = None

    def event(self, name: str) -> Item | None:
        """The latest record; None if there has been none yet, which CUDA takes as done."""
        if name not in self._recorded:
            raise GpusimError(f"event {name!r} is waited for but never recorded")
        return self.events.get(name)


class Allocated(NamedTuple):
    """A buffer: what it comes from (``declared``, ``device``, ``pinned``, else a pool), its bytes and its device."""

    origin: str
    bytes: int
    device: int
