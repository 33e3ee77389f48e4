"""Stores by the threads of an SM, which queue until they are sent.

Models: who finds the queue full waits for the store whose end makes room, and so do loads from shared memory that are
  issued meanwhile.
Source: realkernels.microbench (behind, access); see the profile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from gpusim.engine import Event, Simulation

__all__ = ["StoreQueue"]


class StoreQueue:
    """The queue of one SM with room for ``room_bytes``.

    ``ahead``: part of the stores that wait for room which are ahead of a load from shared memory, 0..1.
    """

    def __init__(self, sim: Simulation, room_bytes: float, ahead: float) -> None:
        self._sim = sim
        self._room_bytes = room_bytes
        self._ahead = ahead
        self._stores: deque[tuple[Event, float, float]] = deque()
        """Stores that may still be queued, their bytes, and how many instructions of a warp they are."""
        self._queued_bytes = self._queued = 0.0
        self._waiting = 0.0
        """Bytes that wait for room."""
        self._s_per_byte = self._last_sent_s = 0.0
        """How fast the last store was sent, and when."""

    def add(self, store: Event, sent_bytes: float, instructions: float) -> None:
        """Queue a store of so many ``instructions`` of a warp; it happens when they have been sent."""
        given_s = self._sim.now
        store.callbacks.append(lambda _event: self._left(sent_bytes, given_s))
        self._stores.append((store, sent_bytes, instructions))
        self._queued_bytes += sent_bytes
        self._queued += instructions

    def room(self, waiting: float) -> Generator:
        """Wait until all stores so far find room; ``waiting`` bytes of them are ahead of shared loads so long.

        ``waiting``: of one instruction of each warp.
        """
        full = self._full()
        if full is not None:
            self._waiting += waiting
            yield full
            self._waiting -= waiting

    def queued(self) -> float:
        """How many instructions of a warp are queued."""
        self._drop_sent()
        return self._queued

    def wait_s(self) -> float:
        """How long a load from shared memory waits until the stores ahead of it have found room."""
        return self._ahead * self._waiting * self._s_per_byte

    def _full(self) -> Event | None:
        """The store whose end makes room for those that were given since, or None if there is room."""
        self._drop_sent()
        beyond = self._queued_bytes - self._room_bytes
        for event, sent_bytes, _ in self._stores:
            if beyond <= 0.0:
                return None
            beyond -= sent_bytes
            if beyond <= 0.0:
                return event
        return None

    def _drop_sent(self) -> None:
        stores = self._stores
        while stores and stores[0][0].processed:
            _, sent_bytes, instructions = stores.popleft()
            self._queued_bytes -= sent_bytes
            self._queued -= instructions

    def _left(self, sent_bytes: float, given_s: float) -> None:
        now = self._sim.now
        self._s_per_byte = (now - max(self._last_sent_s, given_s)) / sent_bytes
        self._last_sent_s = now
