"""A copy within the device, and a memset, as the kernel that it is.

Models: a grid of blocks of ``copy.d2d_threads`` threads, which move ``copy.d2d_block`` bytes each. They are short, and
  many more than find room: what comes behind waits until the last ones are placed, as behind any kernel, and that is
  when the copy is nearly over. A memset has the same blocks, which only write.
Omits: copies and memsets that stay in L2, which take less than their bytes at ``copy.d2d_bandwidth`` and
  ``copy.memset_bandwidth``.
Source: realkernels.microbench.host (copies: size, copy_beside); that a memset has a copy's blocks is assumed.
"""

from __future__ import annotations

from math import ceil

from gpusim.hardware.occupancy import resident_ctas
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.block_times import TransferCost
from gpusim.host.device.hbm_time import hbm_seconds
from gpusim.program.host import MemcpyAsync, MemsetAsync, Work

__all__ = ["transfer_work"]

MOST_WAVES = 16
"""Larger copies are simulated with larger blocks: how late the last ones are placed is told to a part in so many."""
REGISTERS = 32
"""Per thread: as many as leave room for all threads of an SM."""


def transfer_work(profile: DeviceProfile, op: MemcpyAsync | MemsetAsync) -> Work:
    """The grid that does ``op``; if its blocks do not all find room at once, in whole waves."""
    threads, way = int(profile.value("copy.d2d_threads")), op.direction
    fits = resident_ctas(profile, threads=threads, registers=REGISTERS, shared_bytes=0, name=way)
    room = fits.ctas_per_sm * int(profile.value("sm.count"))
    blocks = max(ceil(op.bytes / profile.value("copy.d2d_block")), 1)
    if blocks > room:
        blocks = room * min(ceil(blocks / room), MOST_WAVES)
    seconds = op.bytes / profile.value(f"copy.{way}_bandwidth")
    # It has HBM to itself if it needs all of it at the rate that it has alone.
    hbm_s = min(hbm_seconds(profile, 0 if way == "memset" else op.bytes, op.bytes), seconds)
    cost = TransferCost(profile.value(f"copy.{way}_overhead"), seconds, hbm_s)
    return Work(cost, blocks, threads, REGISTERS, name=way)
