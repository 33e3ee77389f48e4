"""Atomic updates of global memory, which L2 makes sector by sector where the data lies.

Models: an instruction sends a request for each line its lanes touch, with what they add; lanes that update the same
  value go one after the other. Requests pass the SM's path of stores and the way into L2 with their bytes and some of
  their own. A sector that is not updated by lanes side by side takes a slice of L2 longer. Values that the whole grid
  updates again and again lie in few slices: one value in one, and further bytes in further ones. Sums of floating
  point that meet in a sector wait longer for each other. What L2 lacks is read and written back, and its slice waits
  meanwhile. Old values take their way back.
Omits: which bytes lie in which slice; lanes of a strided access that meet; the nearer half of L2.
Source: realkernels.microbench atomics (one SM, all SMs, ranges of bytes, one value, chains, beside loads).
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp
from typing import TYPE_CHECKING, NamedTuple

from gpusim.engine import Capacity
from gpusim.hardware.memory.access import LINE_BYTES, SECTOR_BYTES, access_of
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import WARP_SIZE, Atomic

if TYPE_CHECKING:
    from gpusim.hardware.memory.l2_and_hbm import Memory

__all__ = ["Atomics", "Updates", "interval_s", "updates_of"]

_RARE = 1e-3
"""So many in a sector hardly ever meet."""


class Updates(NamedTuple):
    """What atomics send, per byte that lanes update."""

    requests: float
    sectors: float
    """Sectors that are updated, as often as they are."""


@lru_cache(maxsize=4096)
def updates_of(width: int, stride: int = 0, scatter: int = 0, distinct: int = 0) -> Updates:
    """The updates of lanes as the fields of the same names of `Atomic` describe them."""
    access = access_of(width, stride, scatter)
    apart = Updates(access.lines, access.sectors)
    if not distinct or stride not in {0, width}:
        return apart
    if not scatter:
        # Lanes go through the values from the first again, each time as requests of their own.
        turns = max(WARP_SIZE * width / distinct, 1.0)
        if turns == 1.0:
            return apart
        one = WARP_SIZE * width
        return Updates(turns * ceil(distinct / LINE_BYTES) / one, turns * ceil(distinct / SECTOR_BYTES) / one)
    block = max(scatter // width, 1) * width
    places = max(distinct / block, 1.0)
    together = min(max(SECTOR_BYTES // block, 1), places)
    blocks = WARP_SIZE * width / block
    # Blocks of a sector go together unless they are the same: as often as the most frequent one of them.
    sent = min(places / together * _most_frequent(blocks / places, together), blocks)
    return Updates(apart.requests * sent / blocks, apart.sectors * sent / blocks)


def _most_frequent(mean: float, places: float) -> float:
    """Expected largest of ``places`` numbers that are ``mean`` on average by chance (Poisson)."""
    if mean * places < _RARE:
        return mean * places
    term = below = exp(-mean)
    largest, count = 0.0, 0
    while (more := 1.0 - min(below, 1.0) ** places) > _RARE**2 and count < 10 * WARP_SIZE:
        largest += more
        count += 1
        term *= mean / count
        below += term
    return largest


def interval_s(profile: DeviceProfile, distinct: int, floating: bool, scattered: bool) -> float:
    """Seconds from one update of a sector to the next, among ``distinct`` bytes that all SMs update at once.

    Lanes side by side go round all sectors; what is scattered meets by chance.
    """
    one, spread = profile.value("l2.atomic_interval"), profile.value("l2.atomic_spread")
    interval = one * min(spread / distinct, 1.0)
    sums = profile.value("l2.atomic_float_interval") if floating else one
    sectors = max(distinct / SECTOR_BYTES, 1.0)
    if not scattered:
        return max(interval, sums / sectors)
    return interval + SECTOR_BYTES / profile.value("l2.atomic_bandwidth") + max(sums - one, 0.0) / sectors


class Atomics:
    """What atomics of all SMs take of ``memory``."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._profile = profile = memory.profile
        self._request_bytes = profile.value("lsu.atomic_request_bytes")
        self._sector_s = SECTOR_BYTES / profile.value("l2.atomic_bandwidth")
        self._held_bytes = profile.value("l2.written_capacity")
        self.interval = profile.value("lsu.atomic_interval")
        """Cycles between two instructions of a warp that is alone."""
        self._latency_s = profile.seconds_of("lsu.atomic_latency")
        self._slices = Capacity("l2 atomics", 1.0)
        """Time of the slices of L2 per second."""
        self._returned = Capacity("l2 atomics, old values", profile.value("l2.atomic_return_bandwidth"))
        self._shared: dict[tuple[int, bool, bool], Capacity] = {}
        """Time per second of the slices that hold values which all SMs update."""

    @property
    def busy_s(self) -> float:
        """Seconds for which the busiest of what only atomics take has been busy so far."""
        ways = self._slices, self._returned, *self._shared.values()
        return max(way.used_total / way.limit_now for way in ways)

    def sent(self, op: Atomic) -> float:
        """Bytes that pass from an SM to L2 for one that is updated."""
        return 1.0 + self._request_bytes * updates_of(op.width, op.stride, op.scatter, op.distinct).requests

    def missed(self, op: Atomic) -> float:
        """Part of its sectors that L2 lacks."""
        return 0.0 if 0 < op.distinct <= self._held_bytes else 1.0 - op.l2_hit

    def uses(self, op: Atomic) -> list[tuple[Capacity, float]]:
        """What a byte that is sent for ``op`` takes."""
        access = access_of(op.width, op.stride, op.scatter)
        sectors = updates_of(op.width, op.stride, op.scatter, op.distinct).sectors
        sent, missed = self.sent(op), self.missed(op)
        uses = [(self._memory.l2_in, 1.0)]
        slices_s = 0.0 if access.dense else sectors * self._sector_s
        if missed:
            to_hbm, waited_s = self._memory.refills(access, missed / sent)
            uses += to_hbm
            slices_s = max(slices_s, sent / self._memory.l2_in.limit_now) + waited_s * sent
        if slices_s:
            uses.append((self._slices, slices_s / sent))
        if op.distinct:
            case = op.distinct, op.floating, not access.dense
            shared = self._shared.setdefault(case, Capacity(f"l2 atomics on {op.distinct} B", 1.0))
            uses.append((shared, sectors * interval_s(self._profile, *case) / sent))
        if op.returns:
            uses.append((self._returned, 1.0))
        return uses

    def latency_s(self, op: Atomic, amount: float) -> float:
        """Seconds until the old values of ``amount`` bytes are back, once they have been updated."""
        missed = self.missed(op)
        if not missed:
            return self._latency_s
        lines = missed * amount * access_of(op.width, op.stride, op.scatter).lines
        return self._latency_s + self._memory.latency.dram_latency_s(missed * amount, max(lines, 1.0))
