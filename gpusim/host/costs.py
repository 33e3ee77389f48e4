"""What calls, allocations and hand-overs cost, in seconds, read once from a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpusim.hardware.profile import DeviceProfile

__all__ = ["HostApi", "HostCosts"]

HostApi = Literal["cupy", "cuda"]


@dataclass(frozen=True, slots=True)
class HostCosts:
    """Costs of a host that calls from Python through CuPy (``cupy``) or from C++ (``cuda``)."""

    profile: DeviceProfile
    api: HostApi = "cupy"

    def call(self, name: str) -> float:
        """Time inside a call that does not block."""
        return self.profile.value(f"host.{self.api}.{name}")

    def graph_launch(self, nodes: int) -> float:
        """Time inside cudaGraphLaunch of a graph of ``nodes`` nodes."""
        return self.call("graph_launch") + nodes * self.call("graph_launch_node")

    def sized(self, name: str, size: float) -> float:
        """A fixed part and one that grows with the bytes, as ``alloc.device`` and ``alloc.device_rate``."""
        return self.profile.value(name) + size / self.profile.value(f"{name}_rate")

    def flag(self, name: str) -> bool:
        """Whether a call waits for the device."""
        return self.profile.value(name) > 0
