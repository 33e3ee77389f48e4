"""Barriers that several lanes arrive on and wait for.

Both kinds remember, for the critical path, the ``cause`` given by the arrival that
completed a phase (an opaque token of the caller's, -1 for none).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import simpy

from gpusim.engine.simulation import Simulation

__all__ = ["CountingBarrier", "PhasedBarrier"]

_LESS_THAN_A_UNIT = 0.5
"""Units still expected up to which none is: bytes are whole, and what is left of one is rounding."""


class CountingBarrier:
    """Everybody arrives and waits: a generation ends when ``parties`` have arrived.

    ``missing``: what to add if it never does.
    """

    meets = True
    """Whoever waits there has arrived, so that it is others who are missing."""
    __slots__ = ("_count", "_event", "_missing", "_sim", "cause", "name", "parties", "satisfiers")

    def __init__(
        self,
        sim: Simulation,
        name: str,
        parties: int,
        satisfiers: Sequence[str] = (),
        missing: Callable[[], str] | None = None,
    ) -> None:
        self._sim = sim
        self._missing = missing
        self.name = name
        self.satisfiers = list(satisfiers)
        self.cause = -1
        self._count = 0
        self._event = sim.event()
        self.meet(parties)

    def meet(self, parties: int) -> None:
        """From now on ``parties`` end a generation, if none of this one has arrived yet."""
        if parties < 1:
            raise ValueError(f"{self.name}: a generation takes {parties} arrivals; expected at least one")
        if not self._count:
            self.parties = parties

    @property
    def missing(self) -> str:
        """What to add if nobody comes any more; "" where that is not known."""
        return self._missing() if self._missing else ""

    @property
    def progress(self) -> str:
        """How many of the parties are there."""
        return f"{self._count} of {self.parties} arrivals"

    def arrive(self, count: int = 1, cause: int = -1) -> simpy.Event:
        """Add ``count`` arrivals; returns the event that ends this generation."""
        self._count += count
        event = self._event
        self._check(cause)
        return event

    def leave(self, count: int, cause: int = -1) -> bool:
        """``count`` of the parties come no more. Whether that ends the generation, because all others are there."""
        self.parties -= count
        event = self._event
        self._check(cause)
        return event is not self._event

    def _check(self, cause: int) -> None:
        while self._count >= self.parties > 0:
            self._count -= self.parties
            self.cause = cause
            ended, self._event = self._event, self._sim.event()
            ended.succeed()


class PhasedBarrier:
    """Completes phase 0, 1, 2 … whenever its arrivals and its pending units are used up.

    ``pending`` units (bytes of asynchronous transactions) may be expected and completed in
    any order within a phase, as with an mbarrier's transaction count. ``missing``: what to add if it never completes.
    """

    __slots__ = (
        "_arrivals", "_missing", "_pending", "_sim", "_waiters", "cause", "expected", "name", "phase", "satisfiers",
    )  # fmt: skip

    def __init__(
        self,
        sim: Simulation,
        name: str,
        arrivals: int,
        satisfiers: Sequence[str] = (),
        missing: Callable[[], str] | None = None,
    ) -> None:
        if arrivals < 1:
            raise ValueError(f"{name}: a phase takes {arrivals} arrivals; expected at least one")
        self._sim = sim
        self.name = name
        self.expected = arrivals
        self.satisfiers = list(satisfiers)
        self._missing = missing
        self.phase = 0
        self.cause = -1
        self._arrivals = 0
        self._pending = 0.0
        self._waiters: dict[int, simpy.Event] = {}

    @property
    def missing(self) -> str:
        """What to add if the phase is never complete; "" where that is not known."""
        return self._missing() if self._missing else ""

    @property
    def progress(self) -> str:
        """What the current phase has, and what of its units is still to come."""
        due = f" and waits for {self._pending:.0f} more units" if self._pending > _LESS_THAN_A_UNIT else ""
        return f"phase {self.phase} has {self._arrivals} of {self.expected} arrivals{due}"

    def arrive(self, count: int = 1, expect: float = 0.0, cause: int = -1) -> None:
        """Count arrivals and expect ``expect`` more units in this phase."""
        self._arrivals += count
        self._pending += expect
        self._check(cause)

    def complete(self, amount: float, cause: int = -1) -> None:
        """``amount`` of the expected units are done."""
        self._pending -= amount
        self._check(cause)

    def _check(self, cause: int) -> None:
        while self._arrivals >= self.expected and self._pending <= _LESS_THAN_A_UNIT:
            self._arrivals -= self.expected
            self.phase += 1
            self.cause = cause
            event = self._waiters.pop(self.phase - 1, None)
            if event is not None:
                event.succeed()

    def wait(self, phase: int) -> simpy.Event:
        """The event at which ``phase`` completes (already happened if it has)."""
        if phase < self.phase:
            return self._sim.event().succeed()
        event = self._waiters.get(phase)
        if event is None:
            event = self._waiters[phase] = self._sim.event()
        return event
