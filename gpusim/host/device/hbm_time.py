"""What bytes that are read and written take of HBM's time.

Models: each way its own rate, and what turning round costs where both are mixed.
Omits: what stays in L2.
Source: realkernels.microbench (hbm, few_writes).
"""

from __future__ import annotations

from gpusim.hardware.memory.read_write_turnaround import MIX_LOSSES, left_when_mixed
from gpusim.hardware.profile import DeviceProfile

__all__ = ["hbm_seconds"]


def hbm_seconds(profile: DeviceProfile, read: float, written: float) -> float:
    """Seconds of HBM alone for ``read`` and ``written`` bytes, evenly mixed over that time."""
    value = profile.value
    writes_s = written / value("hbm.write_bandwidth")
    both_s = read / value("hbm.read_bandwidth") + writes_s
    if not both_s:
        return 0.0
    return both_s / left_when_mixed(writes_s / both_s, [value(name) for name in MIX_LOSSES])
