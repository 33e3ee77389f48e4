"""The event loop: SimPy's clock and processes, plus an account of who waits for what.

SimPy's ``run()`` returns normally when every process is blocked for ever. A model of
barriers must not: here each wait is registered with its reason, and a run that ends
with somebody still waiting raises `gpusim.deadlock.Deadlock`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import simpy
from simpy import Event, Process

from gpusim.deadlock import Blocked, Deadlock

__all__ = ["Event", "Process", "Simulation"]

_step = simpy.Environment.step


class Simulation(simpy.Environment):
    """One run: a clock in seconds, processes and registered waits.

    Ties are broken by (time, priority, serial number), so equal input gives equal output.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[str, tuple[str, Any, int]] = {}
        self._late: deque[Callable[[], None]] = deque()

    def call_late(self, callback: Callable[[], None]) -> None:
        """Call back once, after every event of this instant."""
        self._late.append(callback)

    def step(self) -> None:
        """Process the next event; if none is left in this instant, first what is to be called late."""
        # SimPy's `peek` and `step` in one: this is called for everything that happens.
        queue = self._queue
        if self._late and (not queue or queue[0][0] > self._now):
            self._late.popleft()()
        else:
            _step(self)

    def call_at(self, delay_s: float, callback: Callable[[simpy.Event], None]) -> simpy.Event:
        """Call back once after ``delay_s``, with the event that is returned."""
        event = simpy.Event(self)
        event._ok, event._value = True, None  # noqa: SLF001 - as SimPy's own Timeout, without its checks
        event.callbacks.append(callback)
        self.schedule(event, delay=delay_s)
        return event

    def succeed_after(self, event: simpy.Event, delay_s: float) -> None:
        """Let ``event`` happen after ``delay_s``. It counts as triggered from now on, as SimPy's own Timeout does."""
        event._ok, event._value = True, None  # noqa: SLF001 - as in `call_at`
        self.schedule(event, delay=delay_s)

    def wait(self, event: simpy.Event, lane: str, reason: str, target: Any, tile: int = -1) -> Generator:
        """Yield ``event`` while ``lane`` counts as waiting for ``target`` because of ``reason``.

        ``target`` has ``name`` and ``satisfiers`` (lanes that can release it), and may have ``progress`` and
        ``missing``.
        """
        self._waiting[lane] = (reason, target, tile)
        value = yield event
        del self._waiting[lane]
        return value

    def run(self, until: float | Event | None = None) -> float:
        """Run until nothing is left to do; returns the time.

        Raises Deadlock if a registered wait is still open then.
        """
        super().run(until)
        if until is None and self._waiting:
            raise Deadlock(
                self.now,
                [
                    Blocked(
                        lane,
                        reason,
                        target.name,
                        tuple(target.satisfiers),
                        tile,
                        getattr(target, "progress", ""),
                        missing=getattr(target, "missing", ""),
                    )
                    for lane, (reason, target, tile) in self._waiting.items()
                ],
            )
        return self.now
