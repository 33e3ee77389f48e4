"""How much later a thread wakes up that has slept for a while.

Models: extra time by how long the thread slept, on straight lines between the times that were measured. (An idle
  processor first looks for work for a while, and then halts; for how long it looks it decides anew each time, so that
  medians rise gradually, from 130 to 300 us.)
Omits: the spread, which is as large as the extra time itself once a thread has slept for 200 us and more (the processor
  has gone to a deeper sleep, or is somebody else's).
Source: realkernels.microbench.host (calls: launch_host_func_seen, launch_host_func_acquire).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from gpusim.hardware.profile import DeviceProfile

__all__ = ["POINTS_US", "Sleep"]

POINTS_US = (20, 50, 100, 200, 500, 1000, 3000)
"""Sleeping times that have a quantity ``wake.<who>_<n>us``."""


class Sleep:
    """The driver's thread that calls host functions (``func``), or a thread that waits for a slot (``slot``)."""

    def __init__(self, profile: DeviceProfile, who: Literal["func", "slot"]) -> None:
        self._slept_s = [0.0, *(1e-6 * point for point in POINTS_US)]
        self._extra_s = [0.0, *(profile.value(f"wake.{who}_{point}us") for point in POINTS_US)]

    def extra_s(self, slept_s: float) -> float:
        """Seconds on top of what a thread takes that has not slept."""
        return float(np.interp(slept_s, self._slept_s, self._extra_s))
