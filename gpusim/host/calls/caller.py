"""A host thread as its calls see it: busy or waiting, on a lane of its own, with streams that may be its own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from gpusim.engine import Event, Simulation
from gpusim.host.device.slots import SlotSemaphore
from gpusim.host.device.streams import Streams
from gpusim.host.device.work import Item, StreamState
from gpusim.timeline import Recorder

__all__ = ["Caller", "Calls"]

Calls = dict[type, Callable[[Any], Generator]]
"""How a thread makes a call of each type of op."""


class Caller:
    """What every call does with its thread. ``name`` is the thread's in the program, which may be ``warm`` there."""

    def __init__(
        self,
        sim: Simulation,
        streams: Streams,
        name: str,
        number: int,
        record: Recorder | None,
        warm: bool = False,
    ) -> None:
        self._sim, self._streams, self._name, self._record = sim, streams, name, record
        self.lane = f"host[{number}]"
        self.warm = warm
        self.device = 0
        """Number of the current device."""

    def stream(self, name: str) -> StreamState:
        """The stream that this thread calls ``name``. Raises GpusimError for an undeclared one."""
        return self._streams.state(name, self._name)

    def stream_key(self, name: str) -> str:
        """Which stream that is, whatever this thread calls it."""
        return self._streams.key(name, self._name)

    def busy(self, kind: str, seconds: float, chunk: int = -1, size: int = 0) -> Generator:
        """Take the thread for ``seconds``."""
        start = self._sim.now
        if seconds > 0.0:
            yield self._sim.timeout(seconds)
            if self._record is not None:
                self._record(self.lane, kind, start, self._sim.now, "", chunk, -1, size)

    def until(self, item: Item, reason: str, chunk: int = -1) -> Generator:
        """Wait for the end of a piece of work."""
        if item.finished:
            return
        start = self._sim.now
        yield from self._sim.wait(item.done, self.lane, reason, item, chunk)
        self._waited(start, reason, chunk, item.row)

    def until_given(
        self, given: Event, slots: SlotSemaphore, wake_s: Callable[[float], float], chunk: int
    ) -> Generator:
        """Wait for a slot, and then ``wake_s`` of the time slept to wake up."""
        start = self._sim.now
        yield from self._sim.wait(given, self.lane, "memory_pool", slots, chunk)
        yield self._sim.timeout(wake_s(self._sim.now - start))
        self._waited(start, "memory_pool", chunk)

    def pause(self, seconds: float, reason: str, chunk: int) -> Generator:
        """Wait for a time that is known already."""
        start = self._sim.now
        if seconds > 0.0:
            yield self._sim.timeout(seconds)
            self._waited(start, reason, chunk)

    def _waited(self, start: float, reason: str, chunk: int, cause: int = -1) -> None:
        if self._record is not None and self._sim.now > start:
            self._record(self.lane, "wait", start, self._sim.now, reason, chunk, -1, 0, cause)
