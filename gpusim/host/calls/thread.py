"""A host thread: makes its calls one after another, each for its cost, some until something has happened.

Models: the calls of `streams`, `waits` and `memory`, the choice of a device, and work of the host's own.
Omits: scheduling of threads on cores (each has one of its own).
"""

from __future__ import annotations

from collections.abc import Generator

from gpusim.errors import GpusimError
from gpusim.host.calls.caller import Caller, Calls
from gpusim.host.calls.memory import MemoryCalls
from gpusim.host.calls.shared import Shared
from gpusim.host.calls.streams import StreamCalls
from gpusim.host.calls.waits import WaitCalls
from gpusim.program.host import HostOp, HostThread, HostWork, SetDevice
from gpusim.timeline import Recorder

__all__ = ["HostThreadModel"]


class HostThreadModel:
    """One thread; ``run()`` is its process."""

    def __init__(self, shared: Shared, thread: HostThread, number: int, record: Recorder | None) -> None:
        self._shared, self._ops = shared, thread.ops
        self._caller = Caller(shared.sim, shared.machine.streams, thread.name, number, record, thread.warm)
        self._calls: Calls = {HostWork: self._host_work, SetDevice: self._set_device}
        self._waits = WaitCalls(shared, self._caller)
        for group in (StreamCalls(shared, self._caller), self._waits, MemoryCalls(shared, self._caller)):
            self._calls |= group.calls
        for op in thread.ops:
            self._waits.expect(op)

    def run(self) -> Generator:
        """Make all calls. Raises GpusimError for a call the runtime would reject."""
        for op in self._ops:
            yield from self.call(op)
        self._shared.running -= 1
        self._waits.end()

    def call(self, op: HostOp) -> Generator:
        """Make one call."""
        if type(op) not in self._calls:
            raise GpusimError(f"{type(op).__name__} is not an operation of the host")
        yield from self._calls[type(op)](op)

    def _host_work(self, op: HostWork) -> Generator:
        yield from self._caller.busy("host", op.seconds, op.chunk)

    def _set_device(self, op: SetDevice) -> Generator:
        devices = self._shared.program.devices
        if op.device not in range(devices):
            on = f"0 to {devices - 1}" if devices > 1 else "0"
            raise GpusimError(f"there is no device {op.device}: streams and memory of the program are on {on}")
        yield from self._caller.busy("issue", self._shared.costs.call("set_device"), op.chunk)
        self._caller.device = op.device
