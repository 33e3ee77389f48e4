"""Calls that wait for the device, or for a slot that it or another thread gives back.

Models: synchronisation with a stream, an event or all streams of a device, and that driver pools of that
  device then give memory back; waking up.
  A thread that polls does not sleep, and what it calls is no synchronisation.
  Giving a slot back costs what taking one does, and who waits for it wakes up as behind a host function.
Omits: what a thread that polls takes from the calls of others (in Python it is refused where there are any,
  `gpusim.scenario.host.check`), and that an event happens between two looks.
Source: CUDA Runtime API; realkernels.microbench.host (calls, cpp).
"""

from __future__ import annotations

from collections.abc import Generator

from gpusim.errors import GpusimError
from gpusim.host.calls.caller import Caller, Calls
from gpusim.host.calls.shared import Shared
from gpusim.host.device.slots import SlotSemaphore
from gpusim.host.device.work import Item
from gpusim.program import host as ops

__all__ = ["WaitCalls"]


class WaitCalls:
    """The calls of one thread that wait."""

    def __init__(self, shared: Shared, caller: Caller) -> None:
        self._shared, self._caller, self._costs = shared, caller, shared.costs
        self._gives: dict[str, None] = {}
        """Slots of which the thread, or a function that it enqueues, gives some back."""
        self.calls: Calls = {
            ops.StreamSync: self._stream_sync,
            ops.EventSync: self._event_sync,
            ops.DeviceSync: self._device_sync,
            ops.AcquireSlot: self._acquire_slot,
            ops.ReleaseSlot: self._release_slot,
        }

    def _stream_sync(self, op: ops.StreamSync) -> Generator:
        stream = self._caller.stream(op.stream)
        yield from self._synchronise([stream.last], stream.spec.device, op.chunk)

    def _event_sync(self, op: ops.EventSync) -> Generator:
        item = self._shared.event(op.event)
        if op.poll:
            yield from self._caller.busy("issue", self._costs.call("sync"), op.chunk)
            if item is not None:
                yield from self._caller.until(item, "host_sync", op.chunk)
        else:
            device = item.stream.spec.device if item is not None else self._caller.device
            yield from self._synchronise([item], device, op.chunk)

    def _device_sync(self, op: ops.DeviceSync) -> Generator:
        device = self._caller.device
        streams = self._shared.machine.streams.of(device)
        yield from self._synchronise([stream.last for stream in streams], device, op.chunk)

    def _synchronise(self, items: list[Item | None], device: int, chunk: int) -> Generator:
        caller = self._caller
        pending = [item for item in items if item is not None and not item.finished]
        yield from caller.busy("issue", self._costs.call("sync"), chunk)
        for item in pending:
            yield from caller.until(item, "host_sync", chunk)
        if pending:
            yield from caller.busy("issue", self._costs.call("sync_wake"), chunk)
        streams = self._shared.machine.streams
        if all(stream.last is None or stream.last.finished for stream in streams.of(device)):
            self._shared.seen_idle[device] = len(streams.items)
        for pool in self._shared.pools.values():
            if pool.pool.device == device:
                yield from caller.busy("alloc", pool.release(), chunk)

    def expect(self, op: ops.HostOp) -> None:
        """Tell who waits for a slot that this thread will give one back."""
        if isinstance(op, ops.ReleaseSlot):
            self._semaphore(op.slots).expect(self._caller.lane)
            self._gives[op.slots] = None
        elif isinstance(op, ops.HostFunc) and op.releases:
            self._gives[op.releases] = None

    def end(self) -> None:
        """Tell who waits for a slot that this thread has made all its calls."""
        for slots in self._gives:
            self._semaphore(slots).end(self._caller.lane)

    def _semaphore(self, slots: str) -> SlotSemaphore:
        semaphore = self._shared.machine.functions.slots.get(slots)
        if semaphore is None:
            raise GpusimError(f"slots {slots!r} are not declared")
        return semaphore

    def _release_slot(self, op: ops.ReleaseSlot) -> Generator:
        yield from self._caller.busy("issue", self._costs.call("acquire"), op.chunk)
        self._semaphore(op.slots).give(self._caller.lane)

    def _acquire_slot(self, op: ops.AcquireSlot) -> Generator:
        semaphore = self._semaphore(op.slots)
        yield from self._caller.busy("issue", self._costs.call("acquire"), op.chunk)
        given = semaphore.take()
        if given is not None:
            yield from self._caller.until_given(given, semaphore, self._slot_wake_s, op.chunk)

    def _slot_wake_s(self, slept_s: float) -> float:
        return self._costs.call("slot_wake") + self._shared.slot_wake.extra_s(slept_s)
