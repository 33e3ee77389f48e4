"""L1: what shared memory leaves of the memory that both have in common, and the loads by threads that take it.

Models: the carve-out is the smallest of the steps that the driver knows which holds the CTAs that fit. Lines of loads
  under way have their place in L1; who finds none waits, and who has been loading longest goes first.
Omits: what L1 still holds of earlier loads.
Source: Hopper and Ampere tuning guides ("Unified Shared Memory/L1/Texture Cache"); realkernels.microbench (access).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from heapq import heappop, heappush
from itertools import count

from gpusim.engine import Event, Simulation
from gpusim.hardware.profile import DeviceProfile

__all__ = ["LoadsUnderWay", "l1_bytes"]

CARVE_OUTS = tuple(size << 10 for size in (0, 8, 16, 32, 64, 100, 132, 164, 196, 228))


def l1_bytes(profile: DeviceProfile, shared_bytes: float, ctas: int) -> float:
    """Bytes of L1 beside ``ctas`` CTAs of ``shared_bytes`` each."""
    needed = ctas * (shared_bytes + profile.value("cta.reserved_shared_memory"))
    most = profile.value("sm.shared_memory")
    carve_out = next((size for size in CARVE_OUTS if needed <= size <= most), most)
    return profile.value("sm.l1_and_shared_memory") - carve_out


class LoadsUnderWay:
    """The loads by threads of one SM whose lines have a place in its ``size`` bytes of L1."""

    def __init__(self, sim: Simulation, size: float) -> None:
        self._sim = sim
        self.size = size
        self._taken = 0.0
        self._loads: deque[tuple[Event, float]] = deque()
        self._turns = count()
        self._waiting: list[tuple[float, int]] = []
        """Since when, and a number that tells equals apart; the first of them is next."""
        self._next: dict[tuple[float, int], Event] = {}
        """What those wait for who are not next."""

    def add(self, arrival: Event, amount: float) -> None:
        """A load of ``amount`` bytes of lines is under way until ``arrival``."""
        self._loads.append((arrival, amount))
        self._taken += amount

    def room(self, amount: float, since_s: float) -> Generator:
        """Until there is room for ``amount`` more bytes of a lane that has been loading since ``since_s``."""
        turn = since_s, next(self._turns)
        heappush(self._waiting, turn)
        while True:
            if self._waiting[0] is not turn:
                self._next[turn] = first = self._sim.event()
                yield first
            elif (full := self._in_the_way(amount)) is not None:
                yield full
            else:
                break
        heappop(self._waiting)
        if self._waiting and (first := self._next.pop(self._waiting[0], None)) is not None:
            first.succeed()

    def _in_the_way(self, amount: float) -> Event | None:
        """The load that ends first of those that leave no room for ``amount`` more bytes, None if there is room."""
        loads = self._loads
        while loads and loads[0][0].processed:
            self._taken -= loads.popleft()[1]
        return loads[0][0] if loads and self._taken + amount > self.size else None
