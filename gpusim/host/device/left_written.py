"""Written data that L2 still holds, and who writes it back.

Models: what a kernel, a memset or a copy wrote last stays in L2, up to so much. Who comes next brings in lines of its
  own, and pays HBM's time for those that have to go: a reading kernel behind one that wrote. Work that writes has in
  its own time that it finds as much as it leaves.
Omits: what copies from the host leave; what kernels of fixed length write.
Source: realkernels.microbench (dirty: how much stays; written_before: what the next kernel takes longer).
"""

from __future__ import annotations

from dataclasses import replace

from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.block_times import SimulatedCost, TransferCost
from gpusim.program.host import RooflineCost, Work

__all__ = ["LeftWritten"]


class LeftWritten:
    """What all work so far has left in L2, in bytes."""

    def __init__(self, profile: DeviceProfile) -> None:
        self._room = profile.value("l2.written_capacity")
        self._write_s = 1.0 / profile.value("hbm.write_bandwidth")
        self._read_bytes_per_s = profile.value("hbm.read_bandwidth")
        self._left = 0.0

    def behind(self, work: Work, read: float, written: float) -> Work:
        """``work``, which reads and writes so many bytes, with the time for what it finds; then it leaves its own."""
        own = min(written, self._room)
        gone = min(self._left, read + written)
        seconds = max(gone - own, 0.0) * self._write_s
        self._left = own if written else self._left - gone
        cost = work.cost
        if not seconds:
            return work
        if isinstance(cost, RooflineCost):
            return replace(work, cost=replace(cost, bytes=cost.bytes + seconds * self._read_bytes_per_s))
        if isinstance(cost, SimulatedCost | TransferCost):
            hbm_s = cost.hbm_seconds + seconds
            return replace(work, cost=replace(cost, hbm_seconds=hbm_s, seconds=max(cost.seconds, hbm_s)))
        return work
