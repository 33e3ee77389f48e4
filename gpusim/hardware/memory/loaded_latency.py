"""The latency of memory behind L2, and what a loaded HBM adds to it.

Models: latency to DRAM, where a copy of many lines waits for its slowest one and each load is early or late by chance;
  hits in the far half of L2; loads that wait for those of other SMs, and for writes.
Omits: the two halves of L2 unless the footprint is known, translation misses, channel conflicts beyond
  what the measured latencies hold.
Source: realkernels.microbench (tma, walk, burst, loaded, meeting, in_order, latency); see the profile.
"""

from __future__ import annotations

from math import exp
from statistics import NormalDist

from gpusim.engine import Capacity
from gpusim.hardware.memory.demand import Demand
from gpusim.hardware.memory.recent_load import RecentLoad
from gpusim.hardware.profile import DeviceProfile

__all__ = ["LoadedLatency", "among_loads", "among_writes", "expected_maximum", "far_part", "slowest"]

EVEN = 3.0**0.5
"""Half the width of an even spread, in standard deviations."""
QUEUE_ROUNDING = 0.05
"""Keeps the queue finite at full load, where a closed system of SMs cannot wait for ever."""


def among_loads(load: float, transfer: float, contention: float, burst: float, queue: float) -> float:
    """What loads of other SMs add to the latency of one, at a utilisation ``load`` of what HBM can do; in one unit.

    ``transfer``: how long it takes if all SMs load as much at once. Of that a copy waits for ``contention``, but SMs
    are in step with each other for no longer than ``burst``. ``queue``, of requests that come at any time.
    """
    crowd = transfer / (1.0 + transfer / burst) if burst else 0.0
    return contention * load * crowd + queue * load / (1.0 - load + QUEUE_ROUNDING)


def among_writes(writes: float, load: float) -> float:
    """By how much more loads wait for writes than where these take all that is left of HBM: the root of that part.

    ``writes`` and ``load``: utilisation of HBM by writes, and by everything, of what it can do at this mix.
    """
    return (writes / (1.0 - load + QUEUE_ROUNDING)) ** 0.5


def slowest(range_: tuple[float, float], lines: float, scale: float) -> float:
    """What the slowest of ``lines`` waits for: from the value of one line to that of many."""
    one, many = range_
    return one + (many - one) * (1.0 - exp(-(lines - 1.0) / scale)) if scale else one


def expected_maximum(count: float) -> float:
    """Expected maximum of ``count`` standard normal numbers (Blom's approximation; 0 below two)."""
    if count < 2:
        return 0.0
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25))


def far_part(footprint_bytes: float, capacity_bytes: float) -> float:
    """Part of the hits in L2, 0..1, that the far half of it serves.

    Each half keeps what its SMs read as far as it can; the rest is in the other one. ``footprint_bytes``: 0 if unknown.
    """
    return max(1.0 - capacity_bytes / 2.0 / footprint_bytes, 0.0) if footprint_bytes else 0.0


class LoadedLatency:
    """Latencies beyond that of the near half of L2, for loads of ``sms`` SMs, while HBM is as loaded as ``recent``."""

    def __init__(self, profile: DeviceProfile, sms: int, demand: Demand, hbm: Capacity, recent: RecentLoad) -> None:
        value = profile.value
        self._hbm = hbm
        self._recent = recent
        self._deviation_s = tuple(
            profile.seconds_of(key) for key in ("dram.latency_jitter", "dram.latency_jitter_many_lines")
        )
        self.far_s = far_part(demand.footprint_bytes, value("l2.capacity")) * profile.seconds_of("l2.far_latency")
        """Mean latency of a hit beyond that of the near half."""
        self._dram_s = tuple(profile.seconds_of(key) for key in ("dram.latency", "dram.latency_many_lines"))
        self._many_lines = value("dram.many_lines")
        self._share_s_per_byte = sms / value("hbm.read_bandwidth")
        queue_s = value("hbm.queue_time") * (1.0 - demand.reads_in_order * (1.0 - value("hbm.queue_in_order")))
        self._among_loads = value("hbm.burst_contention"), value("hbm.burst_time"), queue_s
        self._to_dram = 1.0 - demand.kept
        self._write_queue_s = value("hbm.write_queue_one_line"), value("hbm.write_queue_many_lines")
        self._write_queue_lines = value("hbm.write_queue_lines")
        self._between_warps = value("hbm.write_queue_between_warps")
        self._crowded = 0.0
        """`among_writes` when it was looked at last."""

    def deviation_s(self, lines: float) -> float:
        """Standard deviation of the latency of the slowest of ``lines`` side by side in DRAM."""
        return slowest(self._deviation_s, max(lines, 1.0), self._many_lines)

    def jitter_s(self, lines: float) -> float:
        """By how much that latency varies at most, either way: of an even spread with the same standard deviation."""
        return EVEN * self.deviation_s(lines)

    def _busy(self) -> tuple[float, float]:
        """Utilisation by everything and by writes alone of the time that HBM has at this mix of both."""
        load, writes = self._recent.seen()
        left = self._hbm.limit_now or 1.0
        return min(load / left, 1.0), min(writes / left, 1.0)

    def dram_latency_s(self, amount: float, lines: float, pieces: float = 1.0) -> float:
        """Latency beyond that of L2 of ``amount`` bytes from DRAM, until the slowest of ``lines`` is there.

        These lie in so many ``pieces`` far from each other.
        """
        load, _ = self._busy()
        crowd_s = among_loads(load, self._share_s_per_byte * amount, *self._among_loads)
        return self._dram_s[0] + self.spread_s(lines, pieces) + crowd_s

    def look_at_writes(self) -> None:
        """See how crowded writes of all SMs to DRAM make it for a load that begins now.

        Once for each load: looking more often would change what is averaged.
        """
        load, writes = self._busy()
        self._crowded = among_writes(self._to_dram * writes, load)

    def behind_writes_s(self, lines: float) -> float:
        """What those writes add to the latency of the slowest of ``lines``, from wherever they come."""
        return self._crowded * self._queued_s(lines)

    def apart_behind_writes_s(self, lines: float, own: float) -> float:
        """How much later they let the slowest of all ``lines`` of a CTA come than the ``own`` ones of one warp."""
        return self._crowded * self._between_warps * (self._queued_s(lines) - self._queued_s(own))

    def spread_s(self, lines: float, pieces: float = 1.0) -> float:
        """By how much the slowest of ``lines`` in so many ``pieces`` comes later than one line."""
        one, many = self._dram_s
        each, pieces = max(lines / pieces, 1.0), min(pieces, max(lines, 1.0))
        # Pieces are early or late by chances of their own.
        slowest_piece_s = self.deviation_s(each) * expected_maximum(pieces) if pieces > 1.0 else 0.0
        return slowest((0.0, many - one), each, self._many_lines) + slowest_piece_s

    def _queued_s(self, lines: float) -> float:
        """How long the slowest of ``lines`` waits for writes where these take all that is left of HBM."""
        return slowest(self._write_queue_s, max(lines, 1.0), self._write_queue_lines)
