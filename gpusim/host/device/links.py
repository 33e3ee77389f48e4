"""The links between devices: what several of them send to one shares its way in.

Models: one link into each device, as fast as a copy alone. What a device sends goes one copy after the other anyway,
  as it has one engine for it (`engines`).
Omits: links in pieces, of which one pair of devices has some (here every pair has all of them, as behind a switch).
Source: realkernels.microbench.host (peers: fan, beside).
"""

from __future__ import annotations

from gpusim.engine import Capacity, Event, FluidSystem, Simulation
from gpusim.hardware.profile import DeviceProfile

__all__ = ["Links"]


class Links:
    """The ways into all devices of a program."""

    def __init__(self, sim: Simulation, profile: DeviceProfile, devices: int) -> None:
        self._rate = profile.value("copy.p2p_bandwidth")
        self._fluid = FluidSystem(sim)
        self._into = [Capacity(f"link into device {device}", self._rate) for device in range(devices)]

    def move(self, size: float, target: int) -> Event:
        """Send ``size`` bytes to device ``target``, or out of the program if there is none; the event is their end."""
        uses = [(self._into[target], 1.0)] if target in range(len(self._into)) else []
        return self._fluid.start(size, uses, bound=self._rate)
