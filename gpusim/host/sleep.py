"""How much later a thread wakes up that has slept for a while.

Models: extra time by how long the thread slept, as at the longest measured time that it slept at least. (Steps: an idle
  processor first looks for work for a fixed time, and then halts.)
Omits: the spread, which is as large as the extra time itself once a thread has slept for 200 us and more (the processor
  has gone to a deeper sleep, or is somebody else's).
Source: realkernels.microbench.host (calls: launch_host_func_seen, launch_host_func_acquire).
"""

from __future__ import annotations

from typing import Literal

from gpusim.hardware.profile import DeviceProfile

__all__ = ["POINTS_US", "Sleep"]

POINTS_US = (20, 50, 100, 200, 500, 1000, 3000)
"""Sleeping times that have a quantity ``wake.<who>_<n>us``."""


class Sleep:
    """The driver's thread that calls host functions (``func``), or a thread that waits for a slot (``slot``)."""

    def __init__(self, profile: DeviceProfile, who: Literal["func", "slot"]) -> None:
        self._steps = [(1e-6 * point, profile.value(f"wake.{who}_{point}us")) for point in POINTS_US]

    def extra_s(self, slept_s: float) -> float:
        """Seconds on top of what a thread takes that has not slept."""
        return next((extra for point, extra in reversed(self._steps) if slept_s >= point), 0.0)
