"""What L2 saves where several SMs of a GPC read the same lines.

Models: a read that is under way serves other SMs that ask for the line meanwhile, so many at most. SMs ask for it at
  about the same time as long as something of their own paces them, be it for ever. Where L2, or the way from there into
  their GPC, is what they wait for they are not served alike and move apart, the further the longer: what they still
  have in common falls as one over the time, and comes to all of them as a mean over the whole kernel.
Omits: how unequal SMs are (of three TPCs on one way from L2 the third gets most), and that two SMs of a TPC, which are
  alike, stay together where they read nothing alone.
Source: realkernels.microbench (moving_apart, sharing); see the profile.
"""

from __future__ import annotations

from math import asinh

from gpusim.engine import Capacity, Simulation
from gpusim.hardware.memory.recent_load import LOAD_AVERAGE_S
from gpusim.hardware.profile import DeviceProfile

__all__ = ["GpcSharing", "still_common"]

FULL = 0.9
"""Part of a bandwidth from which on it is what SMs wait for: in the bench they stay together at 0.88, not at 0.93."""


def still_common(apart_s: float, profile: DeviceProfile) -> float:
    """What SMs that have been moving apart for ``apart_s`` seconds had in common all the while: part of all, 0..1.

    The mean of 1 / sqrt(1 + (t / moving_apart)^2).
    """
    later = apart_s / profile.seconds_of("l2.moving_apart")
    return asinh(later) / later if later else 1.0


class GpcSharing:
    """Reads that several SMs want, and for how long L2 or the GPCs' ways from there have been full with them."""

    def __init__(self, sim: Simulation, profile: DeviceProfile, sms: int, l2: Capacity, apart_s: float) -> None:
        """``apart_s``: seconds of the kernel in which SMs move apart."""
        self._sim = sim
        self._merged = profile.value("l2.reads_merged")
        self._part = still_common(apart_s, profile)
        self.into_gpcs = Capacity("into GPCs", sms * profile.value("gpc.sm_bandwidth") * profile.clock_hz)
        self._ways = (l2, self.into_gpcs)
        self._seen_s, self._seen_total = 0.0, [0.0, 0.0]
        self._windows: list[tuple[float, bool]] = []
        """Seconds of each, and whether one of the ways was full."""

    @property
    def moving_apart(self) -> float:
        """Part of the later half of the time so far, 0..1, in which one of the ways was full.

        At the start, which is a large part of a shortened run, all rings are filled at once.
        """
        later = self._windows[len(self._windows) // 2 :]
        return sum(elapsed for elapsed, full in later if full) / sum(elapsed for elapsed, _ in later) if later else 0.0

    def served(self, shared_by: float) -> float:
        """SMs that one read serves, where ``shared_by`` of a GPC want what it brings; the time counts until now."""
        elapsed = self._sim.now - self._seen_s
        if elapsed > LOAD_AVERAGE_S:
            total = [way.used_total for way in self._ways]
            used = (late - early for late, early in zip(total, self._seen_total, strict=True))
            full = any(part > FULL * way.limit * elapsed for part, way in zip(used, self._ways, strict=True))
            self._windows.append((elapsed, full))
            self._seen_s, self._seen_total = self._sim.now, total
        return 1.0 + (min(shared_by, self._merged) - 1.0) * self._part
