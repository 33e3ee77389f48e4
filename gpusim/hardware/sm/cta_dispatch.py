"""When an SM gets the next CTA, and when its warps begin.

Models: CTAs are handed out one after another over the whole device; in the first wave each SM gets its own one right
  after the other. An SM may get one before its turn, as far as CTAs end early or late by chance: others then get theirs
  later. Behind another CTA the gap varies as much, and warps begin one after another.
Omits: how the gaps of one CTA and of the next hang together.
Source: realkernels.microbench (first_wave, launch).
"""

from __future__ import annotations

from gpusim.hardware.memory import jitter
from gpusim.hardware.profile import DeviceProfile

__all__ = ["CtaDispatch"]


class CtaDispatch:
    """When one SM gets its CTAs, and when their warps begin; CTAs come at most ``jitter_s`` early or late by chance."""

    def __init__(self, profile: DeviceProfile, jitter_s: float) -> None:
        self._interval_s = profile.value("launch.cta_interval") * profile.value("sm.count")
        self._first_interval_s = profile.seconds_of("launch.first_wave_interval")
        self._start_s = profile.seconds_of("cta.start")
        self._restart_s = profile.seconds_of("cta.restart")
        self._warp_s = profile.seconds_of("cta.restart_per_warp")
        self._jitter_s = jitter_s
        self._turn_s, self._last_s = 0.0, -self._first_interval_s
        """When it is this SM's turn, and when it got its last CTA."""

    def hand_out(self, now: float, again: bool) -> float:
        """Give the SM, which can take one from ``now`` on, a CTA; when it gets it. ``again``: behind another one."""
        early_s = self._jitter_s if again else 0.0
        at_s = max(now, self._turn_s - early_s, self._last_s + self._first_interval_s)
        self._turn_s = max(now, self._turn_s) + (self._interval_s if again else self._first_interval_s)
        self._last_s = at_s
        return at_s

    def start_s(self, age: int, again: bool) -> float:
        """Seconds from when the SM gets its ``age``-th CTA to the start of that; ``again``: behind another one."""
        if not again:
            return self._start_s
        return max(self._restart_s + self._jitter_s * jitter.of_start(age), 0.0)

    def warps_s(self, warps: int, again: bool) -> float:
        """Seconds from the start of a CTA until the first ``warps`` of its warps have begun.

        At first, not ``again`` behind another CTA, all do at once.
        """
        return warps * self._warp_s if again else 0.0
