"""What waits for DRAM at the moment, and for how long hits in L2 wait behind it.

Models: misses of all SMs in one queue at the bandwidth of HBM. Beyond the first few of them it fills the ways to L2, so
  that what L2 holds comes no earlier than what was asked for before. A copy unit asks for a line a cycle.
Omits: which slice of L2 a request goes to; that in bursts of a few microseconds DRAM is 6 % faster than for long.
Source: realkernels.microbench (behind_misses).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpusim.hardware.memory.load_request import LoadRequest

if TYPE_CHECKING:
    from gpusim.hardware.memory.l2_and_hbm import Memory

__all__ = ["MissQueue"]

_LATENCY_S = 3e-6
"""From when HBM has served a request until it has come, at the latest: assumed.
It says from when on a kernel only waits, not how long anything takes."""


class MissQueue:
    """Counts in seconds of HBM's time."""

    def __init__(self, memory: Memory) -> None:
        profile = memory.profile
        self._memory = memory
        self._ahead_s = profile.value("l2.hits_ahead") / profile.value("hbm.read_bandwidth")
        self._clock_hz = profile.clock_hz
        self._asked_s = 0.0
        self._last_s = 0.0
        """When the last load asked."""
        self._asking: dict[object, tuple[float, float]] = {}
        """Until when copy units ask, and for how much per second."""

    def ask(self, unit: object, request: LoadRequest, weight: float) -> None:
        """An SM, ``unit``, or several, ask for ``request``: ``weight`` seconds of HBM's time for a byte fetched."""
        now, seconds = self._memory.sim.now, request.amount * request.access.fetched * weight * request.origin.part
        self._asked_s += seconds
        self._last_s = now
        if request.path == "tma":
            takes_s = request.amount * request.access.lines / self._clock_hz
            until_s, _ = self._asking.get(unit, (now, 0.0))
            self._asking[unit] = max(until_s, now) + takes_s, seconds / takes_s if takes_s else 0.0

    @property
    def settled_s(self) -> float:
        """By when all has come, at the latest, that has been asked for."""
        return self._last_s + self._asked_s + _LATENCY_S

    def wait_s(self) -> float:
        """How long a hit waits that is asked for now."""
        memory = self._memory
        to_come_s = sum(max(until_s - memory.sim.now, 0.0) * rate for until_s, rate in self._asking.values())
        read_s = memory.read_s()
        return max(self._asked_s - to_come_s - read_s - self._ahead_s, 0.0)
