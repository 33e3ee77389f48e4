"""The event loop: SimPy's clock and processes, plus an account of who waits for what.

SimPy's ``run()`` returns normally when every process is blocked for ever. A model of
barriers must not: here each wait is registered with its reason, and a run that ends
with somebody still waiting raises `gpusim.deadlock.Deadlock`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from heapq import heappop, heappush
from typing import Any

import simpy
from simpy import Event, Process
from simpy.core import BoundClass
from simpy.events import NORMAL

from gpusim.deadlock import Blocked, Deadlock

__all__ = ["Call", "Event", "Process", "Simulation"]


class Call:
    """Something to be called: what the loop needs of an event, and nothing to wait for."""

    __slots__ = ("callbacks",)
    _ok = True

    def __init__(self, callback: Callable[[Call], None]) -> None:
        self.callbacks = [callback]

    def cancel(self) -> None:
        """Do not call."""
        self.callbacks.clear()


class Simulation(simpy.Environment):
    """One run: a clock in seconds, processes and registered waits.

    Ties are broken by (time, priority, serial number), so equal input gives equal output.
    """

    # SimPy's own, again: of a class derived from its environment it would bind them anew at each use.
    process, timeout, event = BoundClass(Process), BoundClass(simpy.Timeout), BoundClass(Event)

    now = 0.0
    """Seconds; a plain number in place of SimPy's property, which is read for everything that happens."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[str, tuple[str, Any, int]] = {}
        self._late: deque[Callable[[], None]] = deque()
        self.unwatched: set[str] = set()
        """Lanes that may wait for good without being a deadlock."""

    def call_late(self, callback: Callable[[], None]) -> None:
        """Call back once, after every event of this instant."""
        self._late.append(callback)

    def call_after(self, delay_s: float, callback: Callable[[Call], None]) -> Call:
        """Call back once after ``delay_s``, with what is returned, unless that is cancelled before."""
        call = Call(callback)
        heappush(self._queue, (self._now + delay_s, NORMAL, next(self._eid), call))
        return call

    def succeed_after(self, event: simpy.Event, delay_s: float) -> None:
        """Let ``event`` happen after ``delay_s``. It counts as triggered from now on, as SimPy's own Timeout does."""
        event._ok, event._value = True, None  # noqa: SLF001 - without the checks of SimPy's own
        self.schedule(event, NORMAL, delay_s)

    def wait(self, event: simpy.Event, lane: str, reason: str, target: Any, tile: int = -1) -> Generator:
        """Yield ``event`` while ``lane`` counts as waiting for ``target`` because of ``reason``.

        ``target`` has ``name`` and ``satisfiers`` (lanes that can release it), and may have ``progress`` and
        ``missing``.
        """
        if lane in self.unwatched:
            return (yield event)
        self._waiting[lane] = (reason, target, tile)
        value = yield event
        del self._waiting[lane]
        return value

    def run(self, until: Event | None = None) -> float:
        """Run until nothing is left to do, or ``until`` has happened; returns the time.

        Raises Deadlock if a registered wait is still open when nothing is left.
        """
        self._go_on(until)
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
                        meets=getattr(target, "meets", False),
                    )
                    for lane, (reason, target, tile) in self._waiting.items()
                ],
            )
        return self.now

    def _go_on(self, until: Event | None) -> None:
        """Let happen what is due; if nothing else is left in an instant, what is to be called late."""
        # SimPy's `run` and `step` in one: this is what everything that happens has in common.
        queue, late = self._queue, self._late
        while until is None or until.callbacks is not None:
            if late and (not queue or queue[0][0] > self.now):
                late.popleft()()
                continue
            if not queue:
                return
            at, _, _, event = heappop(queue)
            self.now = self._now = at
            callbacks, event.callbacks = event.callbacks, None
            for callback in callbacks:
                callback(event)
            if not event._ok and not event.defused:  # noqa: SLF001 - as SimPy's own `step`
                raise event.value
